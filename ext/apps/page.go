package apps

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// Settings are what a page asks of the host that shows it. The zero value asks
// for nothing: no network, no devices.
type Settings struct {
	// CSP are the origins that the page needs; nil means none.
	CSP *CSP `json:"csp,omitzero"`
	// Permissions are what else it needs; nil means nothing.
	Permissions *Permissions `json:"permissions,omitzero"`
	// Domain is the origin that the page is to have, in a form that the host
	// defines; "" leaves it to the host.
	Domain string `json:"domain,omitzero"`
	// PrefersBorder says whether the page is to have a visible border; nil
	// leaves it to the host.
	PrefersBorder *bool `json:"prefersBorder,omitzero"`
}

// CSP are origins outside of a page, such as "https://*.example.com", by what
// they are for.
type CSP struct {
	ConnectDomains  []string `json:"connectDomains,omitzero"`  // requests and sockets
	ResourceDomains []string `json:"resourceDomains,omitzero"` // scripts, styles, images, fonts, media
	FrameDomains    []string `json:"frameDomains,omitzero"`    // frames inside of the page
	BaseURIDomains  []string `json:"baseUriDomains,omitzero"`  // what relative links are relative to
}

// Permissions are abilities of a browser that a page needs; nil means no.
type Permissions struct {
	Camera         *mcp.Support `json:"camera,omitzero"`
	Microphone     *mcp.Support `json:"microphone,omitzero"`
	Geolocation    *mcp.Support `json:"geolocation,omitzero"`
	ClipboardWrite *mcp.Support `json:"clipboardWrite,omitzero"`
}

// AddPage adds a page to a server and declares the extension. The resource needs
// a URI of the scheme ui and a name; its type is that of pages. html is a whole
// document; ask is what it needs, nil for nothing. AddPage panics when the URI is
// of another scheme, or html is not UTF-8.
func AddPage(srv *server.Server, r mcp.Resource, html string, ask *Settings) {
	if !isPage(r.URI) {
		panic(fmt.Sprintf("apps.AddPage: %q is not a ui:// URI", r.URI))
	}
	if !utf8.ValidString(html) {
		panic(fmt.Sprintf("apps.AddPage: the page %s is not UTF-8", r.URI))
	}
	r.MIMEType = MIMEType
	contents := mcp.TextResource(r.URI, MIMEType, html)
	if ask != nil {
		r.Meta = withUI(r.Meta, ask)
		contents.Meta = withUI(nil, ask)
	}
	srv.AddResource(r, func(context.Context, *server.Call, string, map[string]string) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{contents}}, nil
	})
	srv.Extend(Extension, nil)
}

// A Page is what a host shows.
type Page struct {
	URI      string
	HTML     string
	Settings Settings // what it asks for; the host decides
}

// Read reads the page of a tool. One that is not of the scheme and type of pages
// is an error. A page may be read before its tool is called, and kept.
func Read(ctx context.Context, sess *client.Session, uri string, opts *client.CallOptions) (*Page, error) {
	if !isPage(uri) {
		return nil, fmt.Errorf("read page %q: not a ui:// URI", uri)
	}
	result, err := sess.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri}, opts)
	if err != nil {
		return nil, err
	}
	if len(result.Contents) != 1 || result.Contents[0].URI != uri {
		return nil, fmt.Errorf("read page %s: the server answered with other resources", uri)
	}
	c := result.Contents[0]
	if c.MIMEType != MIMEType {
		return nil, fmt.Errorf("read page %s: the type is %q, not %q", uri, c.MIMEType, MIMEType)
	}
	page := &Page{URI: uri, HTML: c.Text}
	if c.Blob != nil {
		page.HTML = string(c.Blob)
	}
	if !utf8.ValidString(page.HTML) {
		return nil, fmt.Errorf("read page %s: not UTF-8", uri)
	}
	if _, err := c.Meta.Get(metaKey, &page.Settings); err != nil {
		return nil, fmt.Errorf("read page %s: what it asks for: %w", uri, err)
	}
	return page, nil
}

// ContentSecurityPolicy returns the value of the Content-Security-Policy header
// that the page has to be shown under: nothing but the page itself and what it
// has declared. Origins that are none, and those that allow drops, are left out;
// nil allows all that the page declares.
func (p *Page) ContentSecurityPolicy(allow func(origin string) bool) string {
	if p.Settings.CSP == nil {
		return "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; " +
			"img-src 'self' data:; media-src 'self' data:; connect-src 'none'; " +
			"frame-src 'none'; object-src 'none'; base-uri 'self'"
	}
	list := func(origins []string, otherwise string) string {
		var b strings.Builder
		for _, o := range origins {
			if origin.MatchString(o) && (allow == nil || allow(o)) {
				b.WriteString(" " + o)
			}
		}
		if b.Len() == 0 {
			return otherwise
		}
		return b.String()
	}
	csp := p.Settings.CSP
	resources := list(csp.ResourceDomains, "")
	return strings.Join([]string{
		"default-src 'none'",
		"script-src 'self' 'unsafe-inline'" + resources,
		"style-src 'self' 'unsafe-inline'" + resources,
		"connect-src" + list(csp.ConnectDomains, " 'none'"),
		"img-src 'self' data:" + resources,
		"font-src 'self'" + resources,
		"media-src 'self' data:" + resources,
		"frame-src" + list(csp.FrameDomains, " 'none'"),
		"object-src 'none'",
		"base-uri" + list(csp.BaseURIDomains, " 'self'"),
	}, "; ")
}

// origin is a scheme of the web and a host, which may begin with a wildcard, and
// maybe a port. Whatever else a server writes could end the directive and begin
// another.
var origin = regexp.MustCompile(`^(https?|wss?)://(\*\.)?[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?$`)

// PermissionsPolicy returns the value of the allow attribute for the frame that
// the page is shown in. allow decides for each ability; nil grants nothing.
func (p *Page) PermissionsPolicy(allow func(ability string) bool) string {
	ask := p.Settings.Permissions
	if ask == nil || allow == nil {
		return ""
	}
	var granted []string
	for _, a := range []struct {
		name  string
		asked *mcp.Support
	}{
		{"camera", ask.Camera},
		{"microphone", ask.Microphone},
		{"geolocation", ask.Geolocation},
		{"clipboard-write", ask.ClipboardWrite},
	} {
		if a.asked != nil && allow(a.name) {
			granted = append(granted, a.name)
		}
	}
	return strings.Join(granted, "; ")
}
