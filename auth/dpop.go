package auth

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/ferrymcp/ferry/internal/dpop"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

const nonceTime = 5 * time.Minute

// DPoP says what is asked of tokens that are bound to a key of their client (RFC
// 9449), so that whoever steals one can do nothing with it. Such tokens are always
// checked, and never accepted as bearer tokens; a client is told that it can use
// them only when Options.DPoP is set.
type DPoP struct {
	// Required refuses tokens that are not bound.
	Required bool
	// Nonces asks for a nonce in proofs, so that none can be made beforehand, and
	// so that instances behind one address need not know each other's proofs.
	Nonces bool
	// NonceKey makes the nonces: at least 32 bytes, the same for all instances; nil
	// is a random one.
	NonceKey []byte
	// Window is how far the time in a proof may be from ours; 0 means 1 min.
	Window time.Duration
	// URL returns what clients call the URL of a request, for servers behind
	// something that changes paths. By default it is the path that came over the
	// wire, at the scheme and host of the resource.
	URL func(*http.Request) string
}

// proofs checks that clients have the keys that their tokens are bound to.
type proofs struct {
	opts    DPoP
	nonces  *dpop.Nonces // nil when there are none
	replays dpop.Replays
}

func (p *proofs) init(opts *DPoP) error {
	if opts == nil {
		return nil
	}
	p.opts = *opts
	if !opts.Nonces {
		return nil
	}
	if opts.NonceKey != nil && len(opts.NonceKey) < 32 {
		return fmt.Errorf("DPoP.NonceKey has %d bytes, want at least 32", len(opts.NonceKey))
	}
	p.nonces = dpop.NewNonces(opts.NonceKey, nonceTime)
	return nil
}

// check checks the proof of a request, if its token is bound to a key.
func (p *proofs) check(w http.ResponseWriter, rq *http.Request, origin, scheme, token string, id *Identity) error {
	bound := scheme == oauthwire.SchemeDPoP
	switch {
	case id.KeyThumbprint == "" && bound:
		return fmt.Errorf("%w: it is not bound to a key", ErrToken)
	case id.KeyThumbprint == "" && p.opts.Required:
		return fmt.Errorf("%w: it is not bound to a key, and has to be", ErrToken)
	case id.KeyThumbprint == "":
		return nil
	case !bound:
		return fmt.Errorf("%w: it is bound to a key, and sent without a proof", ErrToken)
	}
	values := rq.Header["Dpop"]
	if len(values) != 1 {
		return fmt.Errorf("%w: there must be one DPoP header", dpop.ErrProof)
	}
	rules := dpop.Rules{Window: p.opts.Window, Replays: &p.replays, Thumbprint: id.KeyThumbprint}
	if p.nonces != nil {
		rules.Nonce = p.nonces.Valid
		w.Header()["Dpop-Nonce"] = []string{p.nonces.Current()}
	}
	_, err := dpop.Check(values[0], dpop.Request{Method: rq.Method, URL: p.url(rq, origin), Token: token}, &rules)
	return err
}

func (p *proofs) url(rq *http.Request, origin string) string {
	if p.opts.URL != nil {
		return p.opts.URL(rq)
	}
	// What came over the wire: something in between may have cut off a prefix.
	path, _, _ := strings.Cut(rq.RequestURI, "?")
	if !strings.HasPrefix(path, "/") {
		path = rq.URL.EscapedPath()
	}
	return origin + path
}
