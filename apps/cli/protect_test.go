package cli_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	neturl "net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ferrymcp/ferry/apps/cli"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/mcptest"
)

// A visitor is a browser that follows no redirects.
type visitor struct {
	t    *testing.T
	http *http.Client
}

func newVisitor(t *testing.T) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{t, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

func (v *visitor) do(method, url, kind, body string) (*http.Response, string) {
	v.t.Helper()
	rq, err := http.NewRequestWithContext(v.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	rq.Header.Set("Content-Type", kind)
	resp, err := v.http.Do(rq)
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return resp, string(data)
}

func (v *visitor) form(url string, form neturl.Values) (*http.Response, string) {
	v.t.Helper()
	return v.do(http.MethodPost, url, "application/x-www-form-urlencoded", form.Encode())
}

// token registers a client, signs in with the passphrase, agrees, and returns the
// answer of the token endpoint.
func (v *visitor) token(origin, passphrase string) map[string]any {
	v.t.Helper()
	const redirect = "http://127.0.0.1/callback"
	_, text := v.do(http.MethodPost, origin+"/register", "application/json",
		`{"redirect_uris":["`+redirect+`"],"token_endpoint_auth_method":"none","grant_types":["authorization_code","refresh_token"]}`)
	var client struct {
		ID string `json:"client_id"`
	}
	if err := json.Unmarshal([]byte(text), &client); err != nil {
		v.t.Fatalf("register: %s", text)
	}
	verifier := strings.Repeat("v", 43)
	sum := sha256.Sum256([]byte(verifier))
	page := origin + "/authorize?" + neturl.Values{
		"response_type": {"code"}, "client_id": {client.ID}, "redirect_uri": {redirect}, "code_challenge_method": {"S256"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "resource": {origin + "/mcp"},
	}.Encode()
	if resp, text := v.form(page, neturl.Values{"passphrase": {passphrase}}); resp.StatusCode != http.StatusSeeOther {
		v.t.Fatalf("sign in: status %d\n%s", resp.StatusCode, text)
	}
	_, text = v.do(http.MethodGet, page, "", "")
	ticket := regexp.MustCompile(`name="consent" value="([^"]+)"`).FindStringSubmatch(text)
	if ticket == nil {
		v.t.Fatalf("no consent page:\n%s", text)
	}
	resp, _ := v.form(page, neturl.Values{"consent": {html.UnescapeString(ticket[1])}, "decision": {"allow"}})
	answer, err := neturl.Parse(resp.Header.Get("Location"))
	if err != nil || answer.Query().Get("code") == "" {
		v.t.Fatalf("no code in %s", resp.Header.Get("Location"))
	}
	_, text = v.form(origin+"/token", neturl.Values{
		"grant_type": {"authorization_code"}, "client_id": {client.ID}, "code": {answer.Query().Get("code")}, "code_verifier": {verifier},
	})
	var tokens map[string]any
	if err := json.Unmarshal([]byte(text), &tokens); err != nil || tokens["access_token"] == nil {
		v.t.Fatalf("no tokens: %s", text)
	}
	tokens["client_id"] = client.ID
	return tokens
}

// TestUpLocalAuth signs in at an endpoint that does it itself, and is still signed in
// after the program was started anew.
func TestUpLocalAuth(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-401-REQUIRED", "SEC-SESSION-VERIFY-ALL", "SEC-HANDLE-VERIFY-ALL")
	kept := t.TempDir()
	args := []string{"up", "--auth", "local", "--auth-dir", kept, "--dir", t.TempDir(), "--config", noServers(t), "--address"}
	up := run(t, append(args, "127.0.0.1:0")...)
	url := up.await(t, `^ferry serves (http://127\.0\.0\.1:\d+/mcp)$`)
	origin := strings.TrimSuffix(url, "/mcp")
	passphrase := up.await(t, `^  ([a-z2-7]{4}(?:-[a-z2-7]{4}){3})$`)

	v := newVisitor(t)
	for _, path := range []string{"/mcp", "/sse", "/message", "/healthz"} {
		method := http.MethodGet
		if path == "/message" {
			method = http.MethodPost
		}
		resp, _ := v.do(method, origin+path, "application/json", "{}")
		if challenge := resp.Header.Get("WWW-Authenticate"); resp.StatusCode != http.StatusUnauthorized || !strings.Contains(challenge, "resource_metadata=") {
			t.Errorf("%s without a token: got status %d, challenge %q, want 401", path, resp.StatusCode, challenge)
		}
	}
	resp, text := v.do(http.MethodGet, origin+"/.well-known/oauth-protected-resource/mcp", "", "")
	if want := `"authorization_servers":["` + origin + `"]`; resp.StatusCode != http.StatusOK || !strings.Contains(text, want) {
		t.Errorf("metadata: got status %d %s, want %s", resp.StatusCode, text, want)
	}
	tokens := v.token(origin, passphrase)
	call := func(token any) {
		t.Helper()
		header := http.Header{"Authorization": {fmt.Sprint("Bearer ", token)}}
		sess := mcptest.Connect(t, httpclient.New(url, &httpclient.Options{Header: header}), nil)
		if tools, err := sess.ListTools(t.Context(), nil); err != nil || len(tools.Tools) == 0 {
			t.Errorf("tools with a token: %v, %v", tools, err)
		}
		if err := sess.Close(); err != nil {
			t.Error(err)
		}
	}
	call(tokens["access_token"])
	up.end(t)

	up = run(t, append(args, strings.TrimPrefix(origin, "http://"), "--passphrase", "another passphrase")...)
	up.await(t, `asks for your passphrase`)
	refresh := neturl.Values{
		"grant_type": {"refresh_token"}, "client_id": {fmt.Sprint(tokens["client_id"])}, "refresh_token": {fmt.Sprint(tokens["refresh_token"])},
	}
	resp, text = v.form(origin+"/token", refresh)
	if resp.StatusCode != http.StatusOK || json.Unmarshal([]byte(text), &tokens) != nil {
		t.Fatalf("refresh after a new start: got status %d %s", resp.StatusCode, text)
	}
	call(tokens["access_token"])
	up.end(t)
}

// TestUpIssuer lets in who has a token of another server.
func TestUpIssuer(t *testing.T) {
	t.Parallel()
	listener := httptest.NewUnstartedServer(nil)
	issuer := "http://" + listener.Listener.Addr().String()
	up := run(t, "up", "--auth", issuer, "--url", "https://mcp.example/mcp", "--address", "127.0.0.1:0", "--dir", t.TempDir(), "--config", noServers(t), "-v")
	up.await(t, `^ferry serves https://mcp\.example/mcp$`)
	up.await(t, `^Clients are let in with a token for this endpoint from `+regexp.QuoteMeta(issuer))
	up.end(t)
	listener.Close()
}

func TestUpAuthRefused(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"--url":          {"--auth", "local", "--address", "0.0.0.0:0"},
		"12 characters":  {"--auth", "local", "--address", "127.0.0.1:0", "--passphrase", "short"},
		"https":          {"--auth", "http://issuer.example", "--address", "127.0.0.1:0"},
		"local":          {"--auth", "", "--auth", "loc", "--address", "127.0.0.1:0"},
		"loopback":       {"--auth", "local", "--address", "127.0.0.1:0", "--url", "http://mcp.example/mcp"},
		"starts":         {"--auth", "local", "--stdio"},
		"--allow-remote": {"--address", "0.0.0.0:0"},
	} {
		var out bytes.Buffer
		args = append([]string{"up", "--auth-dir", t.TempDir(), "--config", noServers(t)}, args...)
		if code := cli.Main(t.Context(), args, strings.NewReader(""), io.Discard, &out); code != 2 || !strings.Contains(out.String(), name) {
			t.Errorf("%v: got %d, %s, want 2 and a word of %s", args, code, &out, name)
		}
	}
}

// noServers is a configuration that names none.
func noServers(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mcp.json")
	writeFile(t, file, `{"mcpServers":{}}`)
	return file
}
