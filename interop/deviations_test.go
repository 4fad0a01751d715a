package interop_test

// deviations are where the packages of others differ from what the specification
// says or allows, and what their wording of it is. None of them is ours.
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
		server: twin, carrier: "HTTP", revisions: legacy, step: "list changed", seen: "no notifications/tools/list_changed: too late",
		why: "`server` has no sessions by default: there is no stream for changes in the older revisions.",
	},
}
