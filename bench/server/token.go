package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/bench/program"
)

// resource is what tokens are for.
const resource = "https://mcp.example.com/mcp"

// one is an issuer of a single token. It is asked once: the token is remembered.
type one struct{}

// Issuer implements auth.Verifier.
func (one) Issuer() string { return "https://login.example.com" }

// Verify implements auth.Verifier.
func (v one) Verify(_ context.Context, token string) (*auth.Identity, error) {
	if token != program.Token {
		return nil, fmt.Errorf("%w: it is not the one of the benchmark", auth.ErrToken)
	}
	return &auth.Identity{
		Issuer: v.Issuer(), Subject: "somebody", Scopes: []string{"tools"}, Audience: []string{resource},
		Expires: time.Now().Add(time.Hour),
	}, nil
}

// protect lets in only who has the token.
func protect(h http.Handler) (http.Handler, error) {
	r, err := auth.New(resource, []auth.Verifier{one{}}, &auth.Options{Scopes: []string{"tools"}})
	if err != nil {
		return nil, err
	}
	return r.Handler(h), nil
}
