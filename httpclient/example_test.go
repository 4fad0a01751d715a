package httpclient_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/transport"
)

// A client is usually given the Transport; this shows what it does with it.
func ExampleNew() {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	}))
	defer srv.Close()

	t := httpclient.New(srv.URL, &httpclient.Options{
		Header: http.Header{"Authorization": {"Bearer secret"}},
	})
	ctx := context.Background()
	conn, err := t.Open(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()

	response, err := conn.RoundTrip(ctx, &transport.Outgoing{ID: jsonrpc.IntID(1), Method: "ping"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(response.Status, string(response.Result))
	// Output: 200 {}
}
