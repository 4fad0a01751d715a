package auth_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

func Example() {
	// Tokens come from one issuer, whose keys are found by themselves.
	tokens, err := auth.NewJWT("https://login.example.com", nil)
	if err != nil {
		panic(err)
	}
	resource, err := auth.New("https://mcp.example.com/mcp", []auth.Verifier{tokens}, &auth.Options{
		Scopes: []string{"plans"},                                    // for everything
		Tools:  map[string][]string{"delete_plan": {"plans:delete"}}, // and more for some tools
	})
	if err != nil {
		panic(err)
	}

	srv := server.New(mcp.Implementation{Name: "plans", Version: "1.0"}, &server.Options{View: resource.View})
	server.AddTool(srv, mcp.Tool{Name: "delete_plan"}, func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
		return "deleted by " + auth.Of(ctx).Subject, nil
	})
	endpoint := httpserver.New(srv, nil)
	defer endpoint.Close()
	protected := resource.Handler(endpoint)

	// In a program: http.ListenAndServe(addr, protected). Who comes without a token
	// is told where to get one.
	answer := httptest.NewRecorder()
	protected.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/mcp", nil))
	fmt.Println(answer.Code, answer.Header().Get("WWW-Authenticate"))

	answer = httptest.NewRecorder()
	protected.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, resource.MetadataPath(), nil))
	fmt.Println(answer.Code, answer.Body)
	// Output:
	// 401 Bearer scope="plans", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
	// 200 {"resource":"https://mcp.example.com/mcp","authorization_servers":["https://login.example.com"],"scopes_supported":["plans"],"bearer_methods_supported":["header"]}
}
