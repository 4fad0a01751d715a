package auth

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/ferrymcp/ferry/internal/dpop"
	"github.com/ferrymcp/ferry/internal/httpwire"
	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// metadata is the document that tells clients who issues tokens for the resource
// (RFC 9728).
type metadata struct {
	url      string
	path     string // decoded
	escaped  string
	document []byte
}

func (m *metadata) init(r *Resource, resource string) error {
	m.url = oauthwire.ResourceMetadataURLs(r.url)[0]
	u, err := url.Parse(m.url)
	if err != nil {
		return err
	}
	m.path, m.escaped = u.Path, u.EscapedPath()
	scopes := r.opts.Advertise
	if scopes == nil {
		scopes = r.opts.Scopes
	}
	document := oauthwire.ResourceMetadata{
		Resource: resource, Name: r.opts.Name, Documentation: r.opts.Documentation,
		ScopesSupported: scopes, BearerMethods: []string{"header"}, DPoPBoundTokens: r.proofs.opts.Required,
	}
	if r.opts.DPoP != nil {
		document.DPoPSigningAlgorithms = dpop.Algorithms()
	}
	for _, v := range r.verifiers {
		issuer := v.Issuer()
		if _, err := oauthwire.ParseIssuer(issuer); err != nil {
			return fmt.Errorf("a verifier: %w", err)
		}
		if !slices.Contains(document.AuthorizationServers, issuer) {
			document.AuthorizationServers = append(document.AuthorizationServers, issuer)
		}
	}
	m.document, err = ijson.Marshal(document)
	return err
}

// MetadataPath returns the path at which clients look for the metadata of the
// resource: /.well-known/oauth-protected-resource, followed by the path of the
// resource. It can be the pattern of a mux.
func (r *Resource) MetadataPath() string { return r.metadata.escaped }

// MetadataURL returns where the metadata of the resource is, as clients know it.
func (r *Resource) MetadataURL() string { return r.metadata.url }

// Metadata returns what serves the metadata of the resource (RFC 9728, section 3),
// for a mux in which [Resource.Handler] does not get requests for MetadataPath. It
// is for everybody, web pages of others too.
func (r *Resource) Metadata() http.Handler { return &r.metadata }

// ServeHTTP implements http.Handler.
func (m *metadata) ServeHTTP(w http.ResponseWriter, rq *http.Request) {
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	switch rq.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions: // a page asks whether it may send headers
		header.Set("Access-Control-Allow-Methods", "GET")
		header.Set("Access-Control-Allow-Headers", "MCP-Protocol-Version")
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		header.Set("Allow", "GET, HEAD, OPTIONS")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	header.Set("Content-Type", httpwire.TypeJSON)
	header.Set("Content-Length", strconv.Itoa(len(m.document)))
	header.Set("Cache-Control", "public, max-age=300")
	if rq.Method == http.MethodGet {
		_, _ = w.Write(m.document) // a client that has gone does not need it
	}
}
