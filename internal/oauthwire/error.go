package oauthwire

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The error codes that somebody acts on, by where they occur.
const (
	ErrorInvalidRequest          = "invalid_request"
	ErrorInvalidClient           = "invalid_client"
	ErrorInvalidGrant            = "invalid_grant"
	ErrorUnauthorizedClient      = "unauthorized_client"
	ErrorUnsupportedGrantType    = "unsupported_grant_type"
	ErrorUnsupportedResponseType = "unsupported_response_type"
	ErrorInvalidScope            = "invalid_scope"
	ErrorAccessDenied            = "access_denied"
	ErrorServerError             = "server_error"
	ErrorTemporarilyUnavailable  = "temporarily_unavailable"
	ErrorInvalidTarget           = "invalid_target"                   // RFC 8707
	ErrorInvalidRedirectURI      = "invalid_redirect_uri"             // RFC 7591
	ErrorInvalidClientMetadata   = "invalid_client_metadata"          // RFC 7591
	ErrorInvalidToken            = "invalid_token"                    // RFC 6750, in challenges
	ErrorInsufficientScope       = "insufficient_scope"               // RFC 6750, in challenges
	ErrorInvalidDPoPProof        = "invalid_dpop_proof"               // RFC 9449
	ErrorUseDPoPNonce            = "use_dpop_nonce"                   // RFC 9449
	ErrorUnmetAuthentication     = "insufficient_user_authentication" // RFC 9470, in challenges
)

// Error is the error of an endpoint (OAuth 2.1, section 3.2.4). As a Go error its
// text is what the peer said, made printable and short.
type Error struct {
	Code        string `json:"error"`
	Description string `json:"error_description,omitempty"`
	URI         string `json:"error_uri,omitempty"`
}

// Error implements the error interface.
func (e *Error) Error() string {
	text := Printable(e.Code, 100)
	if e.Description != "" {
		text += ": " + Printable(e.Description, 300)
	}
	return text
}

// ReadError reads the body of an error answer. It reports false if that is not one
// of OAuth.
func ReadError(data []byte) (*Error, bool) {
	var e Error
	if err := read("error", data, &e); err != nil || e.Code == "" {
		return nil, false
	}
	return &e, true
}

// Printable returns text of a peer as it may be shown to people: at most n bytes,
// in one line, with nothing that a terminal would act upon.
func Printable(text string, n int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError, unicode.Is(unicode.Bidi_Control, r):
			return -1
		case !unicode.IsPrint(r):
			return ' '
		}
		return r
	}, text)
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}
