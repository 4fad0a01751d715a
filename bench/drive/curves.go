package main

import "slices"

// sweeps are the curves of the page, in its order. No process may have more open
// files than the limit.
func sweeps(limit int) []sweep {
	return slices.Concat(sizes(), crowds(limit), slowReaders())
}

// sizes are sweeps of what is in a request, or in the server.
func sizes() []sweep {
	payloads := []int{100, 1000, 10_000, 100_000, 1_000_000, 16_000_000}
	return []sweep{
		{
			name: "payloads, stdio", x: "bytes of text", sizes: payloads,
			at: func(n int) *workload {
				return &workload{job: job{method: toolsCall, tool: "echo", size: n}, depth: 1}
			},
			charts: []figure{{file: "payload-stdio", title: "Payloads over stdio, one call at a time", y: cost}},
		},
		{
			name: "payloads, http", x: "bytes of text", sizes: payloads,
			at: func(n int) *workload {
				return &workload{job: job{method: toolsCall, tool: "echo", size: n}, depth: 1, http: true, session: true}
			},
			charts: []figure{{file: "payload-http", title: "Payloads over HTTP, one call at a time", y: cost}},
		},
		{
			name: "connections", x: "connections, each with a session and a call in flight", sizes: []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512},
			at:     func(n int) *workload { return &workload{job: echo, depth: n, http: true, session: true} },
			charts: []figure{{file: "connections", title: "Connections", y: cost}},
		},
		{
			name: "lists", x: "tools in the list", sizes: []int{10, 100, 1000, 10_000},
			at:     func(n int) *workload { return &workload{job: job{method: toolsList, tools: n}, depth: 1} },
			charts: []figure{{file: "lists", title: "Lists of tools over stdio", y: "µs CPU / list"}},
		},
		{
			name: "tools", x: "tools of the server", sizes: []int{10, 100, 1000, 10_000},
			at: func(n int) *workload {
				j := echo
				j.tools = n
				return &workload{job: j, depth: 64}
			},
			charts: []figure{{file: "tools", title: "A call, by how many tools there are (stdio, 64 in flight)", y: cost}},
		},
	}
}

// crowds are sweeps of clients, of which most do nothing.
func crowds(limit int) []sweep {
	many := []int{1, 10, 100, 1000, 5000, min(20_000, limit-500)}
	idle := []int{1, 10, 100, 1000, min(10_000, limit-500)}
	return []sweep{
		{
			name: "idle sessions", x: "idle sessions with a stream", sizes: idle, rounds: 1,
			at:     func(n int) *workload { return &workload{job: echo, depth: 8, http: true, session: true, streams: n} },
			charts: []figure{{file: "idle-sessions", title: "A call, by how many other sessions there are", y: cost}},
		},
		{
			name: "idle subscriptions", x: "idle subscriptions", sizes: idle, rounds: 1,
			at: func(n int) *workload {
				return &workload{job: echoModern, depth: 8, http: true, stateless: true, streams: n}
			},
			charts: []figure{{file: "idle-subscriptions", title: "A call, by how many subscriptions there are", y: cost}},
		},
		{
			name: "sessions", x: "sessions with a stream", sizes: many, rounds: 1,
			at: func(n int) *workload {
				w := sessionStreams
				w.streams = n
				return &w
			},
			charts: []figure{
				{file: "sessions-memory", title: "Memory of a session with its stream", y: "KB / session after GC"},
				{file: "sessions-told", title: "Telling all sessions of a change", y: "ms until all know", row: 4},
			},
		},
		{
			name: "subscriptions", x: "subscriptions", sizes: many, rounds: 1,
			at: func(n int) *workload {
				w := listenStreams
				w.streams = n
				return &w
			},
			charts: []figure{
				{file: "subscriptions-memory", title: "Memory of a subscription", y: "KB / subscription after GC"},
				{file: "subscriptions-told", title: "Telling all subscribers of a change", y: "ms until all know", row: 4},
			},
		},
	}
}

// slowReaders are sweeps of what clients leave unread. The floor waits for them.
func slowReaders() []sweep {
	return []sweep{
		{
			name: "unread changes", x: "changes that 20 clients do not read", sizes: []int{10, 100, 1000, 10_000}, rounds: 1, without: floorName,
			at:     unreadChanges,
			charts: []figure{{file: "unread-changes", title: "Clients that do not read: changes of a list", y: "MB more than before"}},
		},
		{
			name: "unread progress", x: "steps of progress that 20 clients do not read", sizes: []int{100, 1000, 10_000, 100_000, 1_000_000}, rounds: 1, without: floorName,
			at:     unreadProgress,
			charts: []figure{{file: "unread-progress", title: "Clients that do not read: progress of calls", y: "MB more than before"}},
		},
	}
}
