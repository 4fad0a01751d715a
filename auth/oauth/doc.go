// Package oauth is the client side of authorization: it obtains access tokens for
// MCP servers, keeps them fresh and sends them along. A [Client] is a
// http.RoundTripper that answers 401 and 403 by itself, so everything that takes an
// http.Client can use it:
//
//	login, err := oauth.New(&oauth.Options{Name: "My program"})
//	...
//	defer login.Close()
//	t := httpclient.New(url, &httpclient.Options{Client: login.HTTPClient(url)})
//
// Without options a user logs in with a browser on this machine, at whatever
// authorization server the MCP server names, and nothing survives the process.
// [Options] has stores, clients that are registered already, and ways to log in
// without a browser or without a user ([ClientCredentials], [Enterprise], [Workload]).
//
// What is found on the way is trusted as little as the specification says: a token is
// kept for one resource of one issuer and sent nowhere else, and every URL must be
// https, or http to this machine. Which revision a server follows does not show
// before somebody is logged in, so the ways of all of them are tried, newest first.
package oauth
