package oauthwire

import (
	"net/url"
	"strings"
)

// The well-known paths.
const (
	PathResource = "/.well-known/oauth-protected-resource"   // RFC 9728
	PathServer   = "/.well-known/oauth-authorization-server" // RFC 8414
	PathOpenID   = "/.well-known/openid-configuration"       // OpenID Connect Discovery 1.0
)

// ResourceMetadataURLs returns where the metadata of the resource at a URL may be,
// in the order to try: for the path of the resource, and at the root ("Protected
// Resource Metadata Discovery Requirements"). The first one is where it belongs.
func ResourceMetadataURLs(resource *url.URL) []string {
	root := origin(resource) + PathResource
	path := resource.EscapedPath()
	if path == "/" {
		path = ""
	}
	if resource.RawQuery != "" {
		path += "?" + resource.RawQuery
	}
	if path == "" {
		return []string{root}
	}
	return []string{root + path, root}
}

// ServerMetadataURLs returns where the metadata of the authorization server with an
// issuer may be, in the order to try ("Authorization Server Metadata Discovery").
// The root is never asked for an issuer with a path: another server may own it.
func ServerMetadataURLs(issuer *url.URL) []string {
	base, path := origin(issuer), strings.TrimRight(issuer.EscapedPath(), "/")
	if path == "" {
		return []string{base + PathServer, base + PathOpenID}
	}
	return []string{base + PathServer + path, base + PathOpenID + path, base + path + PathOpenID}
}

// OriginServer returns what the oldest revision with authorization assumes of an
// MCP server: that the server itself is the authorization server, at the URL
// without its path. Its metadata is asked for at the first of ServerMetadataURLs;
// without any, the endpoints are the ones returned here.
func OriginServer(endpoint *url.URL) (issuer string, defaults *ServerMetadata) {
	base := origin(endpoint)
	return base, &ServerMetadata{
		Issuer:                base,
		AuthorizationEndpoint: base + "/authorize",
		TokenEndpoint:         base + "/token",
		RegistrationEndpoint:  base + "/register",
		ResponseTypes:         []string{"code"},
		CodeChallengeMethods:  []string{MethodS256},
	}
}

func origin(u *url.URL) string {
	return strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Host)
}
