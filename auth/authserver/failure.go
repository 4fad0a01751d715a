package authserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// A failure is an error that a client is told about. Its text is ours.
type failure struct {
	status int
	says   oauthwire.Error
}

func (f *failure) Error() string { return f.says.Error() }

// refuse makes a failure that is the client's fault.
func refuse(code, format string, args ...any) *failure {
	status := http.StatusBadRequest
	if code == oauthwire.ErrorInvalidClient {
		status = http.StatusUnauthorized
	}
	return &failure{status, oauthwire.Error{Code: code, Description: fmt.Sprintf(format, args...)}}
}

// failureOf returns what a client is told of an error: the failure in it, and of
// others only that there was one. The log has those.
func (s *Server) failureOf(ctx context.Context, err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if ctx.Err() == nil {
		s.log.ErrorContext(ctx, "authorization server", "error", err)
	}
	if errors.Is(err, ErrFull) || errors.Is(err, context.DeadlineExceeded) {
		return &failure{http.StatusServiceUnavailable, oauthwire.Error{Code: oauthwire.ErrorTemporarilyUnavailable}}
	}
	return &failure{http.StatusInternalServerError, oauthwire.Error{Code: oauthwire.ErrorServerError}}
}

// writeError answers a request of a client with an error (OAuth 2.1, section 3.2.4).
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	f := s.failureOf(r.Context(), err)
	if f.status == http.StatusUnauthorized && r.Header.Get("Authorization") != "" {
		w.Header().Set("WWW-Authenticate", `Basic realm="token"`)
	}
	if f.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "10")
	}
	s.writeJSON(w, r, f.status, f.says)
}

// writeJSON answers with a document that nobody may keep.
func (s *Server) writeJSON(w http.ResponseWriter, r *http.Request, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		s.log.ErrorContext(r.Context(), "authorization server", "error", err)
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	if header.Get("Cache-Control") == "" {
		header.Set("Cache-Control", "no-store")
	}
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(data) //nolint:gosec // it is JSON, and labelled so; a client that has gone needs no answer
}
