package oauth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/internal/oauthwire"
	"github.com/ferrymcp/ferry/netguard"
)

// requestLimit is how long one request to an authorization server may take.
const requestLimit = 30 * time.Second

// maxMetadataRedirects is how many redirects lead to a metadata document.
const maxMetadataRedirects = 3

// A fetcher sends the requests that are not for the MCP server itself.
type fetcher struct {
	client *http.Client
	own    bool // client is ours to release
}

// newFetcher returns the fetcher for what an endpoint names.
func newFetcher(opts *Options, endpoint *url.URL) *fetcher {
	if opts.HTTP == nil {
		return &fetcher{client: &http.Client{Transport: newGuarded(endpoint), CheckRedirect: checkRedirect}, own: true}
	}
	client := *opts.HTTP
	client.CheckRedirect = checkRedirect
	client.Jar = nil
	return &fetcher{client: &client}
}

// checkRedirect lets documents move, to URLs that could have been named in the first
// place. Nothing that is posted follows: credentials are in it.
func checkRedirect(r *http.Request, via []*http.Request) error {
	if via[0].Method != http.MethodGet {
		return http.ErrUseLastResponse
	}
	if len(via) > maxMetadataRedirects {
		return errors.New("too many redirects")
	}
	if _, err := oauthwire.ParseURL(r.URL.String()); err != nil {
		return fmt.Errorf("redirected to a bad URL: %w", err)
	}
	return nil
}

// An answer is that of an authorization server.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// do sends a request. The error is temporary when there was no answer.
func (f *fetcher) do(r *http.Request, step string) (*answer, error) {
	ctx, cancel := context.WithTimeout(r.Context(), requestLimit)
	defer cancel()
	server := r.URL.Scheme + "://" + r.URL.Host
	res, err := f.client.Do(r.WithContext(ctx))
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // the URL may have secrets
		}
		e := fail(step, server, err)
		_, refused := errors.AsType[*netguard.Error](err)
		e.Temporary = !refused
		return nil, e
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, oauthwire.MaxDocument+1))
	if err != nil {
		return nil, &Error{Step: step, Server: server, Status: res.StatusCode, Temporary: true, Err: fmt.Errorf("read answer: %w", err)}
	}
	return &answer{res.StatusCode, res.Header, body}, nil
}

// get fetches a document. It returns nothing, without an error, if there is none,
// which also a page for people means.
func (f *fetcher) get(ctx context.Context, step, url string, header http.Header) ([]byte, error) {
	if _, err := oauthwire.ParseURL(url); err != nil {
		return nil, fail(step, url, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, fail(step, url, err)
	}
	maps.Copy(r.Header, header)
	r.Header.Set("Accept", httpwire.TypeJSON)
	a, err := f.do(r, step)
	switch {
	case err != nil:
		return nil, err
	case a.status == http.StatusOK && strings.HasPrefix(strings.TrimSpace(a.header.Get("Content-Type")), "text/html"):
		return nil, nil
	case a.status == http.StatusOK:
		return a.body, nil
	case passing(a.status):
		return nil, a.refusal(step, url)
	}
	return nil, nil
}

// post sends a body. The URL was checked when the metadata was read.
func (f *fetcher) post(ctx context.Context, step, url, contentType string, body []byte, header http.Header) (*answer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, fail(step, url, err)
	}
	maps.Copy(r.Header, header)
	r.Header.Set("Accept", httpwire.TypeJSON)
	r.Header.Set("Content-Type", contentType)
	return f.do(r, step)
}

// passing reports whether a status says that the server is in trouble.
func passing(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= 500 && status != http.StatusNotImplemented
}

// maxRetryAfter is the longest wait that a server can ask for.
const maxRetryAfter = 5 * time.Minute

// refusal returns the error of an answer that is not a success.
func (a *answer) refusal(step, server string) *Error {
	e := &Error{Step: step, Server: server, Status: a.status, Temporary: passing(a.status)}
	if seconds, err := strconv.Atoi(a.header.Get("Retry-After")); err == nil && seconds > 0 {
		e.RetryAfter = min(time.Duration(min(seconds, 3600))*time.Second, maxRetryAfter)
	}
	said, ok := oauthwire.ReadError(a.body)
	if !ok {
		e.Err = fmt.Errorf("answer has the status %d and no error of OAuth", a.status)
		return e
	}
	e.Code, e.Err = said.Code, said
	if said.Code == oauthwire.ErrorServerError || said.Code == oauthwire.ErrorTemporarilyUnavailable {
		e.Temporary = true
	}
	return e
}

// retry repeats what fails temporarily, with a growing wait in between.
func retry(ctx context.Context, try func() error) error {
	const attempts = 3
	wait := 500 * time.Millisecond
	for i := 1; ; i++ {
		err := try()
		e, ok := errors.AsType[*Error](err)
		if !ok || !e.Temporary || i == attempts || e.RetryAfter > 4*wait {
			return err
		}
		if sleep(ctx, max(wait, e.RetryAfter)) != nil {
			return err
		}
		wait *= 3
	}
}
