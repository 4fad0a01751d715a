// Package auth lets nobody in who has no access token for the server: it is the
// resource server of the protocol's authorization ("Authorization", all revisions
// since the second). A [Resource] is what is protected; its [Resource.Handler] goes
// around any http.Handler:
//
//	tokens, err := auth.NewJWT("https://login.example.com", nil)
//	…
//	resource, err := auth.New("https://mcp.example.com/mcp", []auth.Verifier{tokens}, nil)
//	…
//	http.ListenAndServe(addr, resource.Handler(httpserver.New(srv, nil)))
//
// A caller without a token learns from the answer where to get one. One with a
// token is an [Identity], which handlers find with [Of]. The handlers of packages
// httpserver and legacysse know the caller without being told: a session, a stream
// and what a stateless client carries from round to round belong to the principal
// that began them, and calls that need more scopes than the token has are refused.
//
// Who issues tokens is the business of others; package auth/authserver is one. The
// package does not log clients in either: that is package auth/oauth.
package auth
