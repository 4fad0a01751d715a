package oauthwire

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/ferrymcp/ferry/internal/json"
)

// TokenResponse is the answer of a token endpoint (OAuth 2.1, section 3.2.3, and RFC
// 8693, section 2.2.1).
type TokenResponse struct {
	AccessToken     Secret  `json:"access_token"`
	TokenType       string  `json:"token_type"`
	ExpiresIn       Seconds `json:"expires_in,omitempty"` // 0 when it is not said
	RefreshToken    Secret  `json:"refresh_token,omitempty"`
	Scope           string  `json:"scope,omitempty"`
	IDToken         Secret  `json:"id_token,omitempty"`
	IssuedTokenType string  `json:"issued_token_type,omitempty"`
}

// LogValue implements slog.LogValuer: a log of JSON would have the tokens in it.
func (t TokenResponse) LogValue() slog.Value {
	return slog.GroupValue(slog.String("token_type", t.TokenType), slog.String("scope", t.Scope))
}

// ReadTokenResponse reads the answer of a token endpoint.
func ReadTokenResponse(data []byte) (*TokenResponse, error) {
	const what = "token response"
	var t TokenResponse
	if err := read(what, data, &t); err != nil {
		return nil, err
	}
	switch {
	case t.AccessToken == "":
		return nil, errors.New("read " + what + ": it has no access_token")
	case !visible(string(t.AccessToken)):
		return nil, errors.New("read " + what + ": its access_token has characters that do not fit into a header")
	case t.TokenType == "":
		return nil, errors.New("read " + what + ": it has no token_type")
	case t.ExpiresIn < 0:
		return nil, errors.New("read " + what + ": its expires_in is negative")
	}
	return &t, nil
}

// visible reports whether a token is made of visible ASCII, as all are (OAuth 2.1,
// appendix A.12): nothing that splits a header.
func visible(token string) bool {
	for i := range len(token) {
		if token[i] <= ' ' || token[i] > '~' {
			return false
		}
	}
	return true
}

// Introspection is the answer of an introspection endpoint (RFC 7662, section 2.2).
type Introspection struct {
	Active       bool    `json:"active"`
	Scope        string  `json:"scope,omitempty"`
	ClientID     string  `json:"client_id,omitempty"`
	Username     string  `json:"username,omitempty"`
	TokenType    string  `json:"token_type,omitempty"`
	Expiry       Seconds `json:"exp,omitempty"`
	IssuedAt     Seconds `json:"iat,omitempty"`
	NotBefore    Seconds `json:"nbf,omitempty"`
	Subject      string  `json:"sub,omitempty"`
	Audience     Strings `json:"aud,omitempty"`
	Issuer       string  `json:"iss,omitempty"`
	ID           string  `json:"jti,omitempty"`
	Confirmation *struct {
		Thumbprint string `json:"jkt,omitempty"` // of the DPoP key (RFC 9449, section 6.1)
	} `json:"cnf,omitempty"`
}

// ReadIntrospection reads the answer of an introspection endpoint.
func ReadIntrospection(data []byte) (*Introspection, error) {
	var in Introspection
	if err := read("introspection response", data, &in); err != nil {
		return nil, err
	}
	return &in, nil
}

// Seconds is a number of seconds, or a time in seconds since 1970. It is read from
// numbers, whose fractions are cut off, and from strings, which some servers send.
type Seconds int64

const maxSeconds = 1 << 53

// UnmarshalJSON implements json.Unmarshaler.
func (s *Seconds) UnmarshalJSON(data []byte) error {
	text := strings.Trim(string(data), `"`)
	if text == "null" || text == "" {
		*s = 0
		return nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && -maxSeconds < n && n < maxSeconds {
		*s = Seconds(n)
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(-maxSeconds < f && f < maxSeconds) {
		return fmt.Errorf("%s is not a number of seconds", shown(text))
	}
	*s = Seconds(f)
	return nil
}

// Strings is a list that is written as a string when it has one element, such as
// the audience of a token (RFC 7519, section 4.1.3).
type Strings []string

// MarshalJSON implements json.Marshaler.
func (s Strings) MarshalJSON() ([]byte, error) {
	if len(s) == 1 {
		return json.Marshal(s[0])
	}
	return json.Marshal([]string(s))
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Strings) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var one string
		err := json.Unmarshal(data, &one)
		*s = Strings{one}
		return err
	}
	return json.Unmarshal(data, (*[]string)(s))
}

var _ interface {
	stdjson.Marshaler
	stdjson.Unmarshaler
} = (*Strings)(nil)
