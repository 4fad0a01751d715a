package everything

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/netguard"
	"github.com/ferrymcp/ferry/server"
)

// Fetch bounds what is fetched from the web. Zero fields mean the defaults.
type Fetch struct {
	// Size is the most bytes; 10 MiB.
	Size int64
	// Time is how long it may take; 30 s.
	Time time.Duration
	// Domains are the only ones that may be fetched from, with all below them; nil
	// is all.
	Domains []string
	// Dialer connects; nil connects to public addresses only.
	Dialer *netguard.Dialer
}

func (f Fetch) withDefaults() Fetch {
	if f.Size <= 0 {
		f.Size = 10 << 20
	}
	if f.Time <= 0 {
		f.Time = 30 * time.Second
	}
	return f
}

// maxRedirects is how often a fetch is sent elsewhere.
const maxRedirects = 10

// maxFileName bounds the name of what is made.
const maxFileName = 255

// addGzip adds the tool that compresses a file.
func (s *shelves) addGzip(srv *server.Server, fetch Fetch) {
	client := fetch.client()
	add(srv, mcp.Tool{
		Name: "gzip-file-as-resource", Title: "Compressed file", Annotations: hints(false, true, true),
		Description: "Fetches a file, compresses it, and returns it as a resource or a link to one.",
	}, `"name":{"type":"string","default":"README.md.gz","description":"name of the compressed file"},`+
		`"data":{"type":"string","format":"uri","default":"https://raw.githubusercontent.com/modelcontextprotocol/servers/refs/heads/main/README.md",`+
		`"description":"http, https or data URL of the file"},`+
		`"outputType":{"type":"string","enum":["resourceLink","resource"],"default":"resourceLink","description":"whether to return a link to the resource or the resource"}`,
		nil, func(ctx context.Context, c *server.Call, in struct {
			Name   *string `json:"name"`
			Data   *string `json:"data"`
			Output string  `json:"outputType"`
		},
		) (*mcp.CallToolResult, error) {
			name := or(in.Name, "README.md.gz")
			if name == "" || len(name) > maxFileName {
				return nil, fmt.Errorf("give a name of 1 to %d bytes", maxFileName)
			}
			data, err := fetch.get(ctx, client, or(in.Data, "https://raw.githubusercontent.com/modelcontextprotocol/servers/refs/heads/main/README.md"))
			if err != nil {
				return nil, err
			}
			compressed, err := compress(data)
			if err != nil {
				return nil, err
			}
			r := s.keep(ctx, c, name, "application/gzip", compressed)
			if in.Output == "resource" {
				return &mcp.CallToolResult{Content: []mcp.Content{mcp.Embed(mcp.BlobResource(r.URI, r.MIMEType, compressed))}}, nil
			}
			return &mcp.CallToolResult{Content: []mcp.Content{mcp.Link(r)}}, nil
		})
}

func compress(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(data)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// client fetches from where it may, also when it is sent elsewhere.
func (f Fetch) client() *http.Client {
	return &http.Client{
		Transport: &http.Transport{DialContext: f.Dialer.DialContext, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return fmt.Errorf("it was redirected more than %d times", maxRedirects)
			}
			return f.allowed(r.URL)
		},
	}
}

// allowed refuses addresses of other kinds and domains.
func (f Fetch) allowed(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%q is not a scheme that is fetched: http, https and data are", u.Scheme)
	}
	if len(f.Domains) == 0 {
		return nil
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	for _, domain := range f.Domains {
		if host == domain || strings.HasSuffix(host, "."+domain) {
			return nil
		}
	}
	return fmt.Errorf("domain %s is not one of those that may be fetched from: %s", host, strings.Join(f.Domains, ", "))
}

// get returns what is at a URL, or in it.
func (f Fetch) get(ctx context.Context, client *http.Client, address string) ([]byte, error) {
	if rest, ok := cutScheme(address, "data:"); ok {
		return f.inline(rest)
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("data is not a URL: give one of http, https or data")
	}
	if err := f.allowed(u); err != nil {
		return nil, fmt.Errorf("fetch %s: %w", u.Redacted(), err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, f.Time, fmt.Errorf("it took longer than %v", f.Time))
	defer cancel()
	rq, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(rq)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("fetch %s: %w", u.Redacted(), err)
	}
	defer response.Body.Close()
	if response.ContentLength > f.Size {
		return nil, fmt.Errorf("fetch %s: it has %d bytes, and at most %d are fetched", u.Redacted(), response.ContentLength, f.Size)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, f.Size+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("fetch %s: %w", u.Redacted(), context.Cause(ctx))
	case err != nil:
		return nil, fmt.Errorf("fetch %s: %w", u.Redacted(), err)
	case int64(len(data)) > f.Size:
		return nil, fmt.Errorf("fetch %s: it is longer than %d bytes", u.Redacted(), f.Size)
	}
	return data, nil
}

func cutScheme(address, scheme string) (string, bool) {
	if len(address) < len(scheme) || !strings.EqualFold(address[:len(scheme)], scheme) {
		return "", false
	}
	return address[len(scheme):], true
}

// inline returns what a data URL holds.
func (f Fetch) inline(rest string) ([]byte, error) {
	kind, body, ok := strings.Cut(rest, ",")
	if !ok {
		return nil, errors.New("the data URL has no comma, after which its data would be")
	}
	text, err := url.PathUnescape(body)
	if err != nil {
		return nil, fmt.Errorf("read the data URL: %w", err)
	}
	data := []byte(text)
	if strings.HasSuffix(strings.ToLower(strings.TrimSpace(kind)), ";base64") {
		if data, err = base64.StdEncoding.DecodeString(text); err != nil {
			if data, err = base64.RawStdEncoding.DecodeString(text); err != nil {
				return nil, fmt.Errorf("read the data URL: %w", err)
			}
		}
	}
	if int64(len(data)) > f.Size {
		return nil, fmt.Errorf("the data URL holds more than %d bytes", f.Size)
	}
	return data, nil
}
