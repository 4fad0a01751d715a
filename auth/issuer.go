package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// An issuerSource asks an authorization server for its documents.
type issuerSource struct {
	issuer string
	url    *url.URL
	client *http.Client
}

// defaultClient keeps to what an issuer's URL promised: it does not go on to plain
// HTTP when it is sent there.
var defaultClient = &http.Client{
	Timeout: 5 * time.Second,
	CheckRedirect: func(rq *http.Request, via []*http.Request) error {
		if len(via) >= 3 {
			return errors.New("too many redirects")
		}
		_, err := oauthwire.ParseURL(rq.URL.String())
		return err
	},
}

func newIssuerSource(issuer string, client *http.Client) (*issuerSource, error) {
	u, err := oauthwire.ParseIssuer(issuer)
	if err != nil {
		return nil, err
	}
	if client == nil {
		client = defaultClient
	}
	return &issuerSource{issuer, u, client}, nil
}

// metadata returns the metadata of the issuer, from the first place where there is
// any (RFC 8414, section 3.3).
func (s *issuerSource) metadata(ctx context.Context) (*oauthwire.ServerMetadata, error) {
	var failed error
	for _, address := range oauthwire.ServerMetadataURLs(s.url) {
		data, err := s.get(ctx, address)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		metadata, err := oauthwire.ReadServerMetadata(data)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if metadata.Issuer != s.issuer {
			return nil, fmt.Errorf("metadata at %s: its issuer is %q, want %q", address, oauthwire.Printable(metadata.Issuer, 200), s.issuer)
		}
		return metadata, nil
	}
	return nil, failed
}

// get fetches a document.
func (s *issuerSource) get(ctx context.Context, address string) ([]byte, error) {
	rq, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil) //nolint:gosec // the operator, or an issuer that it trusts, has chosen it
	if err != nil {
		return nil, err
	}
	rq.Header.Set("Accept", "application/json, application/jwk-set+json")
	return s.do(rq)
}

// do sends a request and returns the body of the answer, which must be a success.
func (s *issuerSource) do(rq *http.Request) ([]byte, error) {
	answer, err := s.client.Do(rq) //nolint:gosec // as above
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s %s: status %s", rq.Method, rq.URL.Redacted(), answer.Status)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, oauthwire.MaxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", rq.Method, rq.URL.Redacted(), err)
	}
	if len(body) > oauthwire.MaxDocument {
		return nil, fmt.Errorf("%s %s: the answer is larger than %d bytes", rq.Method, rq.URL.Redacted(), oauthwire.MaxDocument)
	}
	return body, nil
}
