package main

import "strconv"

// A workload is one line of the tables.
type workload struct {
	name      string
	job       job
	depth     int // requests outstanding; over HTTP each on a connection of its own
	http      bool
	session   bool // over HTTP
	stateless bool // over HTTP
	client    bool // it is clients that are measured
}

const (
	toolsCall = "tools/call"
	toolsList = "tools/list"
)

// workloads are what is measured, in the order of the tables.
func workloads() []*workload {
	echo := job{method: toolsCall, tool: "echo", size: 256}
	large := job{method: toolsCall, tool: "echo", size: 64 << 10}
	modern := job{method: toolsCall, tool: "echo", size: 256, modern: true}
	add := job{method: toolsCall, tool: "add"}
	list := job{method: toolsList, tools: 1000}
	progress := job{method: toolsCall, tool: "progress", n: 200}
	all := []*workload{
		{name: "stdio d1", job: echo, depth: 1},
		{name: "stdio d64", job: echo, depth: 64},
		{name: "stdio d64 modern", job: modern, depth: 64},
		{name: "stdio d64 add", job: add, depth: 64},
		{name: "stdio d16 64 KiB", job: large, depth: 16},
		{name: "stdio list 1000", job: list, depth: 1},
		{name: "stdio progress", job: progress, depth: 1},
		{name: "http session c1", job: echo, depth: 1, http: true, session: true},
		{name: "http session c32", job: echo, depth: 32, http: true, session: true},
		{name: "http stateless c32", job: echo, depth: 32, http: true, stateless: true},
		{name: "http modern c32", job: modern, depth: 32, http: true, stateless: true},
		{name: "http session c8 64 KiB", job: large, depth: 8, http: true, session: true},
		{name: "http list 1000", job: list, depth: 1, http: true, session: true},
		{name: "http progress", job: progress, depth: 1, http: true, session: true},
		{name: "client stdio d1", job: echo, depth: 1, client: true},
		{name: "client stdio d64", job: echo, depth: 64, client: true},
		{name: "client stdio d64 modern", job: modern, depth: 64, client: true},
		{name: "client http d1", job: echo, depth: 1, http: true, client: true},
		{name: "client http d64", job: echo, depth: 64, http: true, client: true},
		{name: "client http d64 modern", job: modern, depth: 64, http: true, client: true},
	}
	for _, w := range all {
		w.job.prepare()
	}
	return all
}

// args are the flags for the measured program. Clients get the address of the
// server, "" for standard input and output.
func (w *workload) args(address string) []string {
	var args []string
	switch {
	case !w.http:
		args = append(args, "-stdio")
	case w.client:
		args = append(args, "-http", "http://"+address+"/mcp")
	default:
		args = append(args, "-http", "127.0.0.1:0")
	}
	if w.client {
		args = append(args, "-depth", strconv.Itoa(w.depth))
	}
	if w.stateless {
		args = append(args, "-stateless")
	}
	if w.job.tools > 0 {
		args = append(args, "-tools", strconv.Itoa(w.job.tools-ownTools))
	}
	return args
}

// program is the part of the benchmarks to run for an SDK: its server or its
// client.
func (w *workload) program(name string) string {
	switch {
	case !w.client:
		return name
	case name == "server":
		return "client"
	}
	return name + "/client"
}

// per is how many things a reply stands for: its notifications, or itself.
func (w *workload) per() int { return max(1, w.job.n) }

// unit names them.
func (w *workload) unit() string {
	if w.job.n > 0 {
		return "notification"
	}
	return "request"
}
