package httpserver_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/mcptest"
)

func TestHostAndOrigin(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "HTTP-ORIGIN-VALIDATE", "HTTP-ORIGIN-403", "HTTP-ORIGIN-403-BODY")
	const loopback, public = "127.0.0.1", "192.0.2.1"
	listed := &httpserver.Options{AllowedOrigins: []string{"https://App.example"}, AllowedHosts: []string{"mcp.example", "Other.example:8080"}}
	open := &httpserver.Options{AllowedOrigins: []string{"*"}, AllowedHosts: []string{"*"}}
	tests := []struct {
		name                string
		opts                *httpserver.Options
		local, host, origin string
		refused             bool
	}{
		{"localhost", nil, loopback, "localhost:80", "", false},
		{"in capitals", nil, loopback, "LocalHost", "", false},
		{"127.0.0.1", nil, loopback, "127.0.0.1:8080", "", false},
		{"127.1.2.3", nil, loopback, "127.1.2.3", "", false},
		{"::1", nil, "::1", "[::1]:80", "", false},
		{"::1 without port", nil, "::1", "[::1]", "", false},
		{"rebinding", nil, loopback, "evil.example", "", true},
		{"rebinding with port", nil, loopback, "evil.example:80", "http://evil.example", true},
		{"a name that begins like an address", nil, loopback, "127.0.0.1.evil.example", "", true},
		{"a name that begins like a name", nil, loopback, "localhost.evil.example", "", true},
		{"no host", nil, loopback, "", "", true},
		{"any host on a public address", nil, public, "mcp.example", "", false},
		{"listed on loopback", listed, loopback, "mcp.example:99", "", false},
		{"listed with port", listed, loopback, "other.example:8080", "", false},
		{"listed with another port", listed, loopback, "other.example", "", true},
		{"loopback need not be listed", listed, loopback, "localhost", "", false},
		{"not listed on a public address", listed, public, "evil.example", "", true},
		{"a name of this machine on a public address", listed, public, "localhost", "", true},
		{"all hosts", open, loopback, "evil.example", "", false},

		{"same origin", nil, public, "mcp.example", "https://mcp.example", false},
		{"same origin with default port", nil, public, "mcp.example:443", "https://mcp.example", false},
		{"same origin with port", nil, public, "mcp.example:8080", "http://MCP.example:8080", false},
		{"another port", nil, public, "mcp.example:8080", "http://mcp.example", true},
		{"another host", nil, public, "mcp.example", "https://evil.example", true},
		{"loopback to loopback", nil, loopback, "127.0.0.1:8080", "http://localhost:3000", false},
		{"another host to loopback", nil, loopback, "127.0.0.1:8080", "http://evil.example", true},
		{"loopback to public", nil, public, "mcp.example", "http://localhost:3000", true},
		{"null", nil, loopback, "localhost", "null", true},
		{"nonsense", nil, loopback, "localhost", "http://[", true},
		{"listed origin", listed, public, "mcp.example", "https://app.example", false},
		{"listed origin with another scheme", listed, public, "mcp.example", "http://app.example", true},
		{"all origins", open, public, "mcp.example", "https://evil.example", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv, _ := newServer()
			h := httpserver.New(srv, tt.opts)
			defer h.Close()
			ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.ParseIP(tt.local), Port: 80})
			r := request(ctx, t, "POST", "/", statelessHeader("echo"), statelessCall("1", "echo", `{"text":"x"}`))
			r.Host = tt.host
			if tt.origin != "" {
				r.Header.Set("Origin", tt.origin)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			a := answer{w.Code, w.Header(), w.Body.String()}
			if refused := a.status == 403 && a.code() == -32600; refused != tt.refused || !refused && a.status != 200 {
				t.Errorf("host %q, origin %q: %d %s", tt.host, tt.origin, a.status, a.body)
			}
		})
	}
}
