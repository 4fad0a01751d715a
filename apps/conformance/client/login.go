package main

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"

	"github.com/ferrymcp/ferry/auth/oauth"
)

// A login is what the suite's context says for scenarios of authorization.
type login struct {
	ClientID         string `json:"client_id"`
	ClientSecret     string `json:"client_secret"`
	Issuer           string `json:"issuer"`
	PrivateKey       string `json:"private_key_pem"`
	IDPClientID      string `json:"idp_client_id"`
	IDPToken         string `json:"idp_id_token"`
	IDPIssuer        string `json:"idp_issuer"`
	IDPTokenEndpoint string `json:"idp_token_endpoint"`
	WorkloadToken    string `json:"valid_jwt"`
}

// The client that the suite knows by its document, and where it is sent back to.
const (
	clientDocument = "https://conformance-test.local/client-metadata.json"
	redirectURL    = "http://localhost:33418/callback"
)

// newLogin returns the client that logs in as a scenario wants.
func newLogin(scenario string, logger *slog.Logger) (*oauth.Client, error) {
	var l login
	if text := os.Getenv(contextVariable); text != "" {
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			return nil, fmt.Errorf("read %s: %w", contextVariable, err)
		}
	}
	opts := &oauth.Options{
		Name:        "ferry-conformance",
		MetadataURL: clientDocument,
		RedirectURL: redirectURL,
		Authorize:   approve,
		Logger:      logger,
	}
	switch scenario {
	case "auth/client-credentials-jwt", "auth/client-credentials-basic":
		opts.Grant = oauth.ClientCredentials{}
	case "auth/enterprise-managed-authorization":
		opts.Grant = &oauth.Enterprise{
			Provider: l.IDPIssuer, TokenEndpoint: l.IDPTokenEndpoint, Client: oauth.Registration{ID: l.IDPClientID},
			Identity: func(context.Context) (string, string, error) { return l.IDPToken, oauth.IdentityIDToken, nil },
		}
	case "auth/wif-jwt-bearer":
		opts.Grant = &oauth.Workload{
			Assertion: func(context.Context, string) (string, error) { return l.WorkloadToken, nil },
		}
	}
	if l.ClientID != "" {
		r := oauth.Registration{Issuer: l.Issuer, ID: l.ClientID, Secret: l.ClientSecret}
		if l.PrivateKey != "" {
			block, _ := pem.Decode([]byte(l.PrivateKey))
			if block == nil {
				return nil, errors.New("the private key is not PEM")
			}
			key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
			if err != nil {
				return nil, fmt.Errorf("read the private key: %w", err)
			}
			r.Key = key
		}
		opts.Registrations = []oauth.Registration{r}
	}
	return oauth.New(opts)
}

// approve visits the page of an authorization server that lets everybody in, and
// returns where it sends us.
func approve(ctx context.Context, rq *oauth.AuthorizationRequest) (string, error) {
	visitor := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, rq.URL, http.NoBody)
	if err != nil {
		return "", err
	}
	res, err := visitor.Do(r)
	if err != nil {
		return "", err
	}
	_ = res.Body.Close()
	to := res.Header.Get("Location")
	if to == "" {
		return "", fmt.Errorf("the authorization page answered %s", res.Status)
	}
	return to, nil
}
