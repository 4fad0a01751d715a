package interop_test

import (
	"slices"
	"strings"
)

// deviations are where a report differs from what the specification leads one to
// expect, with the reason. Only the last are ours, and the specification allows them.
var deviations = []deviation{
	{
		server: first, step: "unknown tool", seen: "tool error",
		why: "`sdk` servers answer the call of an unknown tool with a tool error; the specification has a protocol error for it.",
	},
	{
		server: twin, revisions: legacy, step: "not found", seen: "error -32602",
		why: "`server` answers with -32602 for an unknown resource in every revision; the ones before 2026-07-28 have -32002 for it.",
	},
	{
		client: second, revisions: legacy, step: "not found", seen: "error -32602",
		why: "`client` shows our -32002 for an unknown resource as -32602, its code for it in every revision.",
	},
	{
		server: twin, carrier: "HTTP", revisions: legacy, step: "list changed", seen: "no notifications/tools/list_changed in time",
		why: "`server` has no sessions by default: there is no stream for changes in the older revisions.",
	},
	{client: first, step: "progress", sometimes: lost, why: lostProgress},
	{client: second, step: "progress", sometimes: lost, why: lostProgress},
	{server: twin, carrier: "HTTP", revisions: legacy, step: "elicit", seen: refused, why: noSession},
	{server: twin, carrier: "HTTP", revisions: legacy, step: "elicit URL", seen: refused, why: noSession},
	{server: twin, carrier: "HTTP", revisions: legacy, step: "sample", seen: refused, why: noSession},
	{server: twin, carrier: "HTTP", revisions: legacy, step: "roots", seen: refused, why: noSession},
	{server: twin, carrier: "HTTP", revisions: legacy, step: "two questions", seen: refused, why: noSession},
	{
		server: gosdk, revisions: legacy, step: "not found", seen: "error -32602",
		why: "`go-sdk` servers answer with -32602 for an unknown resource in every revision; the ones before 2026-07-28 have -32002 for it.",
	},
	{
		server: gosdk, step: "prompt without argument", seen: "user: Plan a trip to ",
		why: "`go-sdk` and `mcp-go` servers leave it to the handler of a prompt to look for the arguments that it requires.",
	},
	{
		server: mcpgo, step: "prompt without argument", seen: "user: Plan a trip to ",
		why: "`go-sdk` and `mcp-go` servers leave it to the handler of a prompt to look for the arguments that it requires.",
	},
	{
		server: mcpgo, step: "not found", seen: "error -32603",
		why: "`mcp-go` servers answer with -32603 whatever error the handler of a resource template returns.",
	},
	{server: mcpgo, carrier: "HTTP", step: "log", sometimes: unheard, why: lostMessages},
	{server: mcpgo, carrier: "HTTP", step: "progress", sometimes: lost, why: lostMessages},
	{client: mcpgo, carrier: "HTTP", revisions: legacy, step: "cancel", seen: untold, why: neverTold},
	{client: mcpgo, carrier: overSSE, step: "cancel", seen: untold, why: neverTold},
	{client: mcpgo, carrier: overSSE, step: "elicit", seen: refused, why: cannotAsk},
	{client: mcpgo, carrier: overSSE, step: "elicit URL", seen: refused, why: cannotAsk},
	{client: mcpgo, carrier: overSSE, step: "sample", seen: refused, why: cannotAsk},
	{client: mcpgo, carrier: overSSE, step: "roots", seen: refused, why: cannotAsk},
	{client: mcpgo, carrier: overSSE, step: "two questions", seen: refused, why: cannotAsk},
	{server: mcpgo, carrier: overSSE, step: "elicit", seen: refused, why: cannotAsk},
	{server: mcpgo, carrier: overSSE, step: "elicit URL", seen: refused, why: cannotAsk},
	{server: mcpgo, carrier: overSSE, step: "sample", seen: refused, why: cannotAsk},
	{server: mcpgo, carrier: overSSE, step: "roots", seen: refused, why: cannotAsk},
	{server: mcpgo, carrier: overSSE, step: "two questions", seen: refused, why: cannotAsk},
	{
		server: behind + supergateway, step: "list changed", seen: "no notifications/tools/list_changed in time",
		why: "`supergateway` sends a session nothing that is not about one of its calls.",
	},
	{
		server: behind + mcpRemote, revisions: []string{r5}, step: "cancel", seen: untold,
		why: "`mcp-remote` does not pass on in the newest revision that a call is cancelled.",
	},
	{server: gateway + " with sdk", step: "roots", seen: refused, why: noRoots},
	{server: gateway + " with sdk", step: "two questions", seen: refused, why: noRoots},
	{
		server: gateway + " with sdk", step: "log", seen: "no notifications/message in time",
		why: ownLog,
	},
	{
		server: gateway + " with server", step: "log", seen: "no notifications/message in time",
		why: ownLog,
	},
}

const (
	lostProgress = "`sdk` and `client` may lose the last steps of progress when these arrive together with the result."
	lostMessages = "`mcp-go` servers may lose what they send over HTTP just before a result."
	noSession    = "`server` has no sessions by default: it cannot ask in the older revisions."
	neverTold    = "`mcp-go` clients do not tell servers over HTTP that a call is cancelled; in the older revisions nothing else does."
	cannotAsk    = "`mcp-go` does not let servers ask over HTTP+SSE, neither its own nor others of its clients."
	untold       = "given up, the server was not told"
)

// lost reports whether some of the last steps of progress are missing.
func lost(got, want string) bool {
	had, all := strings.Split(got, ", "), strings.Split(want, ", ")
	last := len(had) - 1
	return last < len(all) && had[last] == all[len(all)-1] && slices.Equal(had[:last], all[:last])
}

// unheard reports whether a notification did not come.
func unheard(got, _ string) bool { return strings.HasSuffix(got, "in time") }

const noRoots = "`ferry up` has no roots for servers with sessions: they ask for them outside of calls too, when nobody can say whose."

const ownLog = "`ferry up` writes the log messages of its servers into its own log, and does not pass them on to clients."
