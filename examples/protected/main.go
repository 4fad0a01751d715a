// Protected serves a tool to those who sign in, and is its own authorization
// server, for one person:
//
//	PASSPHRASE='correct horse battery' go run ./examples/protected
//
// A client that is given http://127.0.0.1:8080/mcp finds out by itself where to sign
// in. Where there is an authorization server already, leave authserver out and take
// auth.NewJWT with its issuer to verify tokens.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/auth/authserver"
	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

func main() {
	handler, err := newHandler("http://127.0.0.1:8080", os.Getenv("PASSPHRASE"))
	if err != nil {
		log.Fatal(err)
	}
	web := &http.Server{Addr: "127.0.0.1:8080", Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(web.ListenAndServe())
}

// newHandler returns the endpoint and the authorization server, at the origin where
// both will be.
func newHandler(origin, passphrase string) (http.Handler, error) {
	issuer, err := authserver.New(authserver.Options{
		Issuer: origin, Resources: []string{origin + "/mcp"}, Passphrase: passphrase,
		Scopes: []authserver.Scope{
			{Name: "notes", Description: "Read your notes"},
			{Name: "notes:write", Description: "Add notes"},
		},
	})
	if err != nil {
		return nil, err
	}
	resource, err := auth.New(origin+"/mcp", []auth.Verifier{issuer}, &auth.Options{
		Scopes: []string{"notes"},
		Tools:  map[string][]string{"add_note": {"notes:write"}},
	})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", issuer)
	mux.Handle("/mcp", resource.Handler(httpserver.New(newServer(), nil)))
	mux.Handle(resource.MetadataPath(), resource.Metadata())
	return mux, nil
}

func newServer() *server.Server {
	srv := server.New(mcp.Implementation{Name: "protected", Version: "1.0.0"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "whoami", Description: "Tells who is signed in"},
		func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
			id := auth.Of(ctx)
			return id.Subject + ", with " + id.ClientID, nil
		})
	server.AddTool(srv, mcp.Tool{Name: "add_note", Description: "Adds a note"},
		func(context.Context, *server.Call, struct{ Text string }) (string, error) { return "noted", nil })
	return srv
}
