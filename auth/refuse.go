package auth

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/ferrymcp/ferry/internal/admission"
	"github.com/ferrymcp/ferry/internal/dpop"
	"github.com/ferrymcp/ferry/internal/httpwire"
	"github.com/ferrymcp/ferry/internal/oauthwire"
	"github.com/ferrymcp/ferry/jsonrpc"
)

// The error codes of challenges (RFC 6750, section 3.1; RFC 9449, section 12.2).
const (
	codeInvalidRequest    = "invalid_request"
	codeInvalidToken      = "invalid_token"
	codeInsufficientScope = "insufficient_scope"
	codeInvalidProof      = "invalid_dpop_proof"
	codeUseNonce          = "use_dpop_nonce"
)

// retryAfter is what callers are asked to wait when tokens cannot be verified.
const retryAfter = "5"

// challenges returns the values of WWW-Authenticate that say what a caller needs.
// The first one is for the scheme that every client knows, or for that of the
// request: bound tells that it has a token with a proof (RFC 9449, section 7.1).
func (r *Resource) challenges(code, description string, scopes []string, bound bool) []string {
	var params []oauthwire.Param
	add := func(name, value string) {
		if value != "" {
			params = append(params, oauthwire.Param{Name: name, Value: value})
		}
	}
	add(oauthwire.ParamError, code)
	add(oauthwire.ParamErrorDescription, description)
	add(oauthwire.ParamScope, oauthwire.JoinScopes(scopes))
	add(oauthwire.ParamResourceMetadata, r.metadata.url)
	bearer := oauthwire.Challenge{Scheme: oauthwire.SchemeBearer, Params: params}.String()
	add(oauthwire.ParamAlgorithms, strings.Join(dpop.Algorithms(), " "))
	proof := oauthwire.Challenge{Scheme: oauthwire.SchemeDPoP, Params: params}.String()
	switch {
	case r.proofs.opts.Required || code == codeInvalidProof || code == codeUseNonce:
		return []string{proof}
	case bound:
		return []string{proof, bearer}
	case r.opts.DPoP == nil:
		return []string{bearer}
	}
	return []string{bearer, proof}
}

// malformed returns the answer to a request that no token is looked for in.
func (r *Resource) malformed(why string) *admission.Refusal {
	return &admission.Refusal{
		Status: http.StatusBadRequest, Message: why,
		Challenges: r.challenges(codeInvalidRequest, why, nil, false),
	}
}

// unverified returns the answer for a token that was not accepted. It says no more
// than the caller can make use of.
func (r *Resource) unverified(ctx context.Context, scheme string, err error) *admission.Refusal {
	code, why := codeInvalidToken, "the access token is not valid here"
	switch {
	case errors.Is(err, ErrExpired):
		why = "the access token has expired"
	case errors.Is(err, dpop.ErrNonce):
		code, why = codeUseNonce, dpop.ErrNonce.Error()
	case errors.Is(err, dpop.ErrProof):
		code, why = codeInvalidProof, err.Error()
	case !errors.Is(err, ErrToken):
		if ctx.Err() == nil {
			r.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "access tokens cannot be verified", slog.Any("error", err))
		}
		return &admission.Refusal{Status: http.StatusServiceUnavailable, Message: "access tokens cannot be verified at present; try again"}
	}
	r.opts.Logger.LogAttrs(ctx, slog.LevelDebug, "access token refused", slog.Any("error", err))
	return &admission.Refusal{
		Status: http.StatusUnauthorized, Message: why,
		Challenges: r.challenges(code, why, r.opts.Scopes, scheme == oauthwire.SchemeDPoP),
	}
}

// refuse answers a request. The body is a JSON-RPC error, as those of the endpoint.
func refuse(w http.ResponseWriter, refusal *admission.Refusal) {
	buf := jsonrpc.GetBuffer()
	defer jsonrpc.PutBuffer(buf)
	e := &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: refusal.Message}
	if refusal.Status == http.StatusServiceUnavailable {
		e.Code = jsonrpc.CodeInternal
		w.Header()["Retry-After"] = []string{retryAfter}
	}
	jsonrpc.WriteError(buf, jsonrpc.ID{}, e)
	header := w.Header()
	header["Content-Type"] = []string{httpwire.TypeJSON}
	header["Content-Length"] = []string{strconv.Itoa(buf.Len())}
	header["Cache-Control"] = []string{"no-store"}
	refusal.Challenge(header)
	w.WriteHeader(refusal.Status)
	_, _ = w.Write(buf.Bytes()) // a client that has gone does not need it
}
