package oauth_test

import (
	"context"
	"fmt"
	"log"

	"github.com/ferrymcp/ferry/auth/oauth"
	"github.com/ferrymcp/ferry/httpclient"
)

// A client that logs its user in when a server wants that, and keeps what it gets for
// the next time.
func Example() {
	store, err := oauth.NewFileStore("/home/user/.local/state/program", nil)
	if err != nil {
		log.Fatal(err)
	}
	login, err := oauth.New(&oauth.Options{Name: "My program", Store: store})
	if err != nil {
		log.Fatal(err)
	}
	defer login.Close()
	const endpoint = "https://mcp.example.com/mcp"
	t := httpclient.New(endpoint, &httpclient.Options{Client: login.HTTPClient(endpoint)})
	_ = t // for client.Client.Connect
}

// A service that has a client id and a secret of its own.
func ExampleClientCredentials() {
	login, err := oauth.New(&oauth.Options{
		Grant:         oauth.ClientCredentials{},
		Registrations: []oauth.Registration{{Issuer: "https://login.example.com", ID: "backup", Secret: "from the environment"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer login.Close()
	status, err := login.Status(context.Background(), "https://mcp.example.com/mcp")
	fmt.Println(status, err) // nothing is asked for before the first request
	// Output: <nil> <nil>
}
