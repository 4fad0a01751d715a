package authserver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/internal/oauthwire"
	"github.com/ferrymcp/ferry/netguard"
)

// Bounds of what clients make the server fetch.
const (
	maxDocument     = 16 << 10 // bytes
	maxDocuments    = 1000     // that are kept
	maxFetches      = 8        // at a time
	documentTimeout = 5 * time.Second
	documentLife    = 5 * time.Minute // of one that does not say
	maxDocumentLife = 24 * time.Hour
)

// documents are the clients whose id is the URL of their description (Client ID
// Metadata Documents). They are fetched when somebody comes with such an id, and
// kept as long as HTTP allows.
type documents struct {
	http  *http.Client
	check func(redirect string) error
	pace  throttle
	slots chan struct{} // one for each fetch at a time

	mu   sync.Mutex
	kept map[string]document
	wait map[string]chan struct{} // closed when a fetch that is running has ended
}

type document struct {
	client *client
	until  time.Time
}

// newDocuments connects with guard, which refuses what is not public if it is nil.
func newDocuments(guard *netguard.Dialer, roots *x509.CertPool, check func(string) error) *documents {
	return &documents{
		http: &http.Client{
			Timeout: documentTimeout,
			Transport: &http.Transport{
				DialContext:            guard.DialContext, // and no proxy, which would connect in its place
				TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
				ForceAttemptHTTP2:      true,
				MaxResponseHeaderBytes: 64 << 10,
				MaxIdleConns:           maxFetches,
				IdleConnTimeout:        30 * time.Second,
				DisableCompression:     true,
			},
			// The document is at the URL that is the id, not somewhere it points to.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		check: check,
		pace:  throttle{burst: 30, every: time.Second},
		slots: make(chan struct{}, maxFetches),
		kept:  map[string]document{},
		wait:  map[string]chan struct{}{},
	}
}

// isDocument reports whether a client id is of this kind.
func isDocument(id string) bool { return strings.HasPrefix(id, "https://") }

// client returns the client that the document at a URL describes.
func (d *documents) client(ctx context.Context, id string) (*client, error) {
	if u, err := oauthwire.ParseClientIDURL(id); err != nil || u.Scheme != "https" {
		return nil, refuse(oauthwire.ErrorInvalidClient, "the client id is not a URL that a document can be at")
	}
	for {
		d.mu.Lock()
		if kept, ok := d.kept[id]; ok && time.Now().Before(kept.until) {
			d.mu.Unlock()
			return kept.client, nil
		}
		wait := d.wait[id]
		if wait == nil {
			d.wait[id] = make(chan struct{})
		}
		d.mu.Unlock()
		if wait == nil {
			return d.fetch(ctx, id)
		}
		select {
		case <-wait: // and look again
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// fetch fetches a document, as the only one who does.
func (d *documents) fetch(ctx context.Context, id string) (*client, error) {
	c, life, err := d.read(ctx, id)
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.wait[id])
	delete(d.wait, id)
	if err != nil {
		return nil, err
	}
	if life > 0 {
		d.keepLocked(id, document{c, time.Now().Add(life)})
	}
	return c, nil
}

// keepLocked makes room by dropping what has expired, or else anything: it can be
// fetched again.
func (d *documents) keepLocked(id string, doc document) {
	if len(d.kept) >= maxDocuments {
		now := time.Now()
		for id, doc := range d.kept {
			if !now.Before(doc.until) || len(d.kept) >= maxDocuments {
				delete(d.kept, id)
			}
		}
	}
	d.kept[id] = doc
}

// read fetches a document and makes a client of it. What is wrong with the network
// is not said: it would tell strangers about it.
func (d *documents) read(ctx context.Context, id string) (*client, time.Duration, error) {
	busy := &failure{http.StatusServiceUnavailable, oauthwire.Error{
		Code: oauthwire.ErrorTemporarilyUnavailable, Description: "too many documents of clients are fetched now",
	}}
	if !d.pace.allow() {
		return nil, 0, busy
	}
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	default:
		return nil, 0, busy
	}
	data, header, err := d.get(ctx, id)
	if err != nil {
		return nil, 0, refuse(oauthwire.ErrorInvalidClient, "the document of the client cannot be fetched")
	}
	metadata, err := oauthwire.ReadClientDocument(data, id)
	if err != nil {
		return nil, 0, refuse(oauthwire.ErrorInvalidClient, "%v", err)
	}
	c, err := d.describe(ctx, metadata)
	if err != nil {
		return nil, 0, refuse(oauthwire.ErrorInvalidClient, "the document of the client: %v", err)
	}
	return c, lifeOf(header), nil
}

// get fetches a JSON document of moderate size.
func (d *documents) get(ctx context.Context, url string) ([]byte, http.Header, error) {
	rq, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody) //nolint:gosec // the guard keeps it out of the own network
	if err != nil {
		return nil, nil, err
	}
	rq.Header.Set("Accept", "application/json")
	resp, err := d.http.Do(rq) //nolint:gosec // as above
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || resp.StatusCode != http.StatusOK || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return nil, nil, fmt.Errorf("status %d, type %q", resp.StatusCode, kind)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err == nil && len(data) > maxDocument {
		err = errors.New("it is too long")
	}
	return data, resp.Header, err
}

// describe makes a client of a document whose id is right.
func (d *documents) describe(ctx context.Context, m *oauthwire.ClientMetadata) (*client, error) {
	c := &client{
		id: m.ClientID, name: oauthwire.Printable(m.Name, maxName), origin: documented, method: oauthwire.NoClientAuth,
		redirects: m.RedirectURIs, grants: m.GrantTypes, dpop: m.DPoPBoundTokens,
	}
	if len(c.redirects) > 4*maxRedirects {
		return nil, errors.New("it has too many redirect URIs")
	}
	for _, uri := range c.redirects {
		if err := d.check(uri); err != nil {
			return nil, err
		}
	}
	if c.grants == nil {
		c.grants = []string{oauthwire.GrantAuthorizationCode}
	}
	c.grants = slices.DeleteFunc(c.grants, func(grant string) bool { return !slices.Contains(newcomerGrants, grant) })
	switch m.TokenAuthMethod {
	case "", oauthwire.NoClientAuth:
		return c, nil
	case oauthwire.PrivateKeyJWT:
		c.method = oauthwire.PrivateKeyJWT
	default:
		return nil, errors.New("it has a token_endpoint_auth_method other than none and private_key_jwt")
	}
	keys := []byte(m.JWKS)
	if m.JWKSURI != "" {
		u, err := oauthwire.ParseURL(m.JWKSURI)
		if err != nil || u.Scheme != "https" || m.JWKS != nil {
			return nil, errors.New("its jwks_uri is not an https URL, or there is jwks too")
		}
		if keys, _, err = d.get(ctx, m.JWKSURI); err != nil {
			return nil, errors.New("its keys cannot be fetched")
		}
	}
	var err error
	c.keys, err = readKeys(keys)
	return c, err
}

// lifeOf returns how long an answer may be kept (RFC 9111, section 5.2.2).
func lifeOf(header http.Header) time.Duration {
	life := documentLife
	for directive := range strings.SplitSeq(strings.ToLower(strings.Join(header.Values("Cache-Control"), ",")), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch name {
		case "no-store", "no-cache":
			return 0
		case "max-age":
			seconds, err := strconv.ParseInt(strings.Trim(value, `"`), 10, 64)
			if err != nil || seconds < 0 {
				return 0
			}
			life = time.Duration(min(seconds, int64(maxDocumentLife.Seconds()))) * time.Second
		}
	}
	return life
}
