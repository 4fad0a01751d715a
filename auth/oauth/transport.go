package oauth

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ferrymcp/ferry/internal/dpop"
	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// maxSteps is how often one request may lead to being asked for more scopes, and
// maxTries how often it is sent at all.
const (
	maxSteps = 2
	maxTries = 8
	// maxStepMemory is how many operations with scopes in vain are remembered.
	maxStepMemory = 1000
)

// A progress is how far the handling of one request has come.
type progress struct {
	renewed bool // a refused token was replaced
	anew    bool // a token was obtained anew
	nonce   bool // a nonce was used that the server has asked for
	steps   []stepHash
}

// A stepHash stands for the scopes that an operation was refused for, which the server
// can make as long as it likes.
type stepHash [sha256.Size]byte

// roundTrip sends a request with the endpoint's token, and gets one when there is
// none or it does not suffice. An answer that cannot be helped is returned as it is.
func (s *session) roundTrip(r *http.Request) (*http.Response, error) {
	body, err := replayable(r)
	if err != nil {
		return nil, err
	}
	if !oauthwire.SameOrigin(r.URL, s.endpoint) || foreign(r) || r.Header.Get("Authorization") != "" {
		return s.c.base.RoundTrip(withBody(r, body))
	}
	c, err := s.token(r.Context(), r)
	if err != nil {
		return nil, err
	}
	var p progress
	for range maxTries {
		res, err := s.send(r, body, c)
		if err != nil {
			return nil, err
		}
		n, again := s.judge(r, res, c, &p)
		if !again {
			return res, nil
		}
		drain(res)
		if n == nil {
			continue // with the same token
		}
		if err := s.mayHaveTokens(); err != nil {
			return nil, err
		}
		if c, err = s.obtain(r.Context(), n); err != nil {
			return nil, err
		}
	}
	return nil, fail("send", s.name, errors.New("the server is never content"))
}

// foreign reports whether a request comes from a redirect that has left the origin it
// was made for: nobody there is to ask for a login.
func foreign(r *http.Request) bool {
	first := r
	for first.Response != nil && first.Response.Request != nil {
		first = first.Response.Request
		if !oauthwire.SameOrigin(first.URL, r.URL) {
			return true
		}
	}
	return false
}

// replayable returns the body of a request as something to send several times.
func replayable(r *http.Request) (func() (io.ReadCloser, error), error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	defer r.Body.Close()
	if r.GetBody != nil {
		return r.GetBody, nil
	}
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }, nil
}

// withBody returns a copy of a request, whose headers may be changed.
func withBody(r *http.Request, body func() (io.ReadCloser, error)) *http.Request {
	c := r.Clone(r.Context())
	if body == nil {
		return c
	}
	c.GetBody = body
	var err error
	if c.Body, err = body(); err != nil {
		c.Body = io.NopCloser(failingReader{err})
	}
	return c
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// send sends a request with a token, if there is one.
func (s *session) send(r *http.Request, body func() (io.ReadCloser, error), c *credential) (*http.Response, error) {
	out := withBody(r, body)
	if c != nil {
		out.Header.Set("Authorization", c.Scheme+" "+string(c.Access))
		if c.key != nil {
			proof, err := c.key.Proof(dpop.Request{
				Method: out.Method, URL: out.URL.String(), Token: string(c.Access), Nonce: s.nonces.load(s.name),
			})
			if err != nil {
				return nil, fail("send", s.name, err)
			}
			out.Header.Set(headerDPoP, proof)
		}
	}
	res, err := s.c.base.RoundTrip(out)
	if err == nil && c != nil && c.key != nil {
		s.nonces.note(s.name, res.Header)
	}
	return res, err
}

// judge says whether a request is to be sent again, after the answer it got with a
// credential, and what is needed for that; nil if nothing is.
func (s *session) judge(r *http.Request, res *http.Response, c *credential, p *progress) (n *need, again bool) {
	if res.StatusCode != http.StatusUnauthorized && res.StatusCode != http.StatusForbidden {
		s.stepped(res, p.steps)
		return nil, false
	}
	challenges := oauthwire.ParseChallenges(res.Header.Values("WWW-Authenticate"))
	challenge, ok := s.challenge(challenges, c)
	if !ok && (len(challenges) > 0 || res.StatusCode == http.StatusForbidden) {
		return nil, false // it wants something else than a token
	}
	n = &need{challenge: challenge, revision: revisionOf(r)}
	if c != nil {
		n.stale = c.Access
	}
	if res.StatusCode == http.StatusForbidden {
		return n, s.stepUp(r, n, p)
	}
	switch {
	case c != nil && c.key != nil && challenge.Param(oauthwire.ParamError) == oauthwire.ErrorUseDPoPNonce:
		again, p.nonce = !p.nonce, true
		return nil, again
	case c != nil && !p.renewed && !p.anew:
		p.renewed = true
		return n, true
	case !p.anew:
		p.anew, n.again = true, p.renewed
		return n, true
	}
	s.despair(n)
	return nil, false
}

// challenge returns the challenge to answer: that of the scheme that we use, if there
// is one.
func (s *session) challenge(all []oauthwire.Challenge, c *credential) (oauthwire.Challenge, bool) {
	schemes := []string{oauthwire.SchemeBearer, oauthwire.SchemeDPoP}
	if s.c.opts.DPoP || c != nil && c.key != nil {
		slices.Reverse(schemes)
	}
	for _, scheme := range schemes {
		if found, ok := oauthwire.Find(all, scheme); ok {
			return found, true
		}
	}
	return oauthwire.Challenge{}, false
}

// stepUp reports whether to ask for the scopes of a challenge ("Step-Up Authorization
// Flow"): not more than a few times for a request, and not again for an operation for
// which that did not help.
func (s *session) stepUp(r *http.Request, n *need, p *progress) bool {
	n.scopes = oauthwire.Scopes(n.challenge.Param(oauthwire.ParamScope))
	if n.challenge.Param(oauthwire.ParamError) != oauthwire.ErrorInsufficientScope || len(n.scopes) == 0 || len(p.steps) == maxSteps {
		return false
	}
	sorted := slices.Sorted(slices.Values(n.scopes))
	step := sha256.Sum256([]byte(strings.Join(append(sorted, r.Method, r.Header.Get(httpwire.HeaderMethod), r.Header.Get(httpwire.HeaderName)), "\n")))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.steps[step] {
		return false
	}
	if s.steps == nil || len(s.steps) >= maxStepMemory {
		s.steps = map[stepHash]bool{}
	}
	s.steps[step] = true
	p.steps = append(p.steps, step)
	return true
}

// stepped forgets steps that have helped.
func (s *session) stepped(res *http.Response, steps []stepHash) {
	if len(steps) == 0 || res.StatusCode/100 != 2 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, step := range steps {
		delete(s.steps, step)
	}
}

// mayHaveTokens refuses to get tokens that everybody on the way could read.
func (s *session) mayHaveTokens() error {
	if s.endpoint.Scheme == "https" || isLoopback(s.endpoint) {
		return nil
	}
	return fail("send", s.name, fmt.Errorf("the server asks for a token, which %s would not keep secret: use https", s.endpoint.Scheme))
}

// drain reads what is left of a short answer, so that its connection is used again.
func drain(res *http.Response) {
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10)
	_ = res.Body.Close()
}

// revisionOf returns the revision of the protocol that a request names.
func revisionOf(r *http.Request) string { return r.Header.Get(httpwire.HeaderProtocolVersion) }

// parseEndpoint reads the URL of an MCP endpoint.
func parseEndpoint(endpoint string) (*url.URL, error) {
	u, err := url.Parse(endpoint)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.User != nil {
		return nil, errors.New("endpoint is not an absolute http or https URL")
	}
	return u, nil
}
