package auth

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// claims are those that JWT access tokens (RFC 9068) and answers to introspection
// (RFC 7662) have in common.
type claims struct {
	Issuer       string                     `json:"iss"`
	Subject      string                     `json:"sub"`
	Audience     oauthwire.Strings          `json:"aud"`
	Expiry       *oauthwire.Seconds         `json:"exp"`
	NotBefore    *oauthwire.Seconds         `json:"nbf"`
	IssuedAt     *oauthwire.Seconds         `json:"iat"`
	ClientID     string                     `json:"client_id"`
	Party        string                     `json:"azp"` // what some issuers call it
	Scope        scopeClaim                 `json:"scope"`
	Scp          scopeClaim                 `json:"scp"` // what some issuers call it
	Confirmation map[string]json.RawMessage `json:"cnf"`
}

// A scopeClaim is read from a string, or from an array as some issuers write it.
type scopeClaim []string

// UnmarshalJSON implements json.Unmarshaler.
func (s *scopeClaim) UnmarshalJSON(data []byte) error {
	var list oauthwire.Strings
	if err := ijson.Unmarshal(data, &list); err != nil {
		return err
	}
	*s = oauthwire.Scopes(strings.Join(list, " "))
	return nil
}

// identity returns who the claims speak of, if it is the time for it. raw is what
// they were read from.
func (c *claims) identity(raw []byte, skew time.Duration) (*Identity, error) {
	if err := c.inTime(time.Now(), skew); err != nil {
		return nil, err
	}
	id := &Identity{
		Issuer: c.Issuer, Subject: c.Subject, ClientID: c.ClientID, Audience: c.Audience,
		Scopes: oauthwire.UnionScopes(c.Scope, c.Scp), Claims: raw,
	}
	if c.Expiry != nil {
		id.Expires = moment(c.Expiry)
	}
	if id.ClientID == "" {
		id.ClientID = c.Party
	}
	for method, value := range c.Confirmation {
		// A token that is bound to something else must not be taken for a bearer
		// token, even though we cannot check what it is bound to.
		if method != "jkt" || ijson.Unmarshal(value, &id.KeyThumbprint) != nil || id.KeyThumbprint == "" {
			return nil, fmt.Errorf("%w: it is bound by cnf.%s", ErrToken, oauthwire.Printable(method, 40))
		}
	}
	return id, nil
}

// inTime checks the times, which clocks may differ about by skew.
func (c *claims) inTime(now time.Time, skew time.Duration) error {
	switch {
	case c.Expiry != nil && !now.Before(moment(c.Expiry).Add(skew)):
		return ErrExpired
	case c.NotBefore != nil && now.Add(skew).Before(moment(c.NotBefore)):
		return fmt.Errorf("%w: it is not valid yet", ErrToken)
	case c.IssuedAt != nil && now.Add(skew).Before(moment(c.IssuedAt)):
		return fmt.Errorf("%w: it was issued in the future", ErrToken)
	}
	return nil
}

// moment returns the time of a NumericDate (RFC 7519, section 2).
func moment(s *oauthwire.Seconds) time.Time { return time.Unix(int64(*s), 0) }

// issuerOf returns what a token, if it is a JWT, says about who issued it. Nothing
// of that is verified: it decides only whom a token may be shown to.
func issuerOf(payload []byte) string {
	var c struct {
		Issuer string `json:"iss"`
	}
	if ijson.Unmarshal(payload, &c) != nil {
		return ""
	}
	return c.Issuer
}
