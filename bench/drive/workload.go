package main

import "strconv"

// A workload is something that programs are measured at. It gives one or more
// figures, each a line of the tables.
type workload struct {
	name      string
	rows      []row // nil: one, the processor time of a request
	job       job
	depth     int // requests outstanding; over HTTP each on a connection of its own
	http      bool
	session   bool // over HTTP
	stateless bool // over HTTP
	token     bool // requests have a token, and the server wants one
	client    bool // it is clients that are measured
	streams   int  // that are open before anything is measured, each on a connection of its own
	// programs are the ones to measure, nil for those asked for, and floor is the
	// one to compare with, "" for the floor.
	programs []string
	floor    string
	needs    []string // programs besides
	// measure is how it is done; nil is load.
	measure func(s *settings, w *workload, program string) ([]sample, error)
}

// A row is a figure of a workload and what is wanted of it.
type row struct {
	name string
	unit string
	// must and aim are for the ratio to the floor, 0 if nothing is wanted of it.
	must, aim float64
	// most is for the figure itself; 0 if it may be any.
	most float64
}

const (
	toolsCall = "tools/call"
	toolsList = "tools/list"
)

// perRequest is what most workloads measure.
const perRequest = "µs CPU / request"

// wants makes the only row of a workload.
func wants(must, aim float64) []row {
	return []row{{unit: perRequest, must: must, aim: aim}}
}

// What is asked in most workloads.
var (
	echo       = job{method: toolsCall, tool: "echo", size: 256}
	echoModern = job{method: toolsCall, tool: "echo", size: 256, modern: true}
	echoLarge  = job{method: toolsCall, tool: "echo", size: 64 << 10}
	add        = job{method: toolsCall, tool: "add"}
	list       = job{method: toolsList, tools: 1000}
	progress   = job{method: toolsCall, tool: "progress", n: 200}
)

// Many open streams: those of sessions, and subscriptions.
var (
	sessionStreams = workload{
		name: "sessions 1000", http: true, session: true, streams: 1000, job: job{method: toolsCall, tool: "poke"},
		rows: streamRows("session", 1.15, 0.35), measure: (*settings).openStreams,
	}
	listenStreams = workload{
		name: "listen 1000", http: true, stateless: true, streams: 1000, job: job{method: toolsCall, tool: "poke", modern: true},
		rows: streamRows("listen", 1.2, 0.4), measure: (*settings).openStreams,
	}
)

// workloads are what is measured, in the order of the tables.
func workloads() []*workload {
	perNotification := func(must, aim float64) []row {
		return []row{{unit: "µs CPU / notification", must: must, aim: aim}}
	}
	all := []*workload{
		{name: "stdio d1", job: echo, depth: 1, rows: wants(0.85, 0.65)},
		{name: "stdio d64", job: echo, depth: 64, rows: wants(0.80, 0.60)},
		{name: "stdio d64 modern", job: echoModern, depth: 64, rows: wants(0.60, 0.45)},
		{name: "stdio d64 add", job: add, depth: 64, rows: wants(1.5, 1.1)},
		{name: "stdio d16 64 KiB", job: echoLarge, depth: 16, rows: wants(0.45, 0.30)},
		{name: "stdio list 1000", job: list, depth: 1, rows: wants(0.15, 0.10)},
		{name: "stdio progress", job: progress, depth: 1, rows: perNotification(0.70, 0.50)},
		{name: "http session c1", job: echo, depth: 1, http: true, session: true, rows: wants(0.95, 0.85)},
		{name: "http session c32", job: echo, depth: 32, http: true, session: true, rows: wants(0.85, 0.75)},
		{name: "http stateless c32", job: echo, depth: 32, http: true, stateless: true, rows: wants(0.85, 0.72)},
		{name: "http modern c32", job: echoModern, depth: 32, http: true, stateless: true, rows: wants(0.85, 0.72)},
		{name: "http session c8 64 KiB", job: echoLarge, depth: 8, http: true, session: true, rows: wants(0.35, 0.25)},
		{name: "http list 1000", job: list, depth: 1, http: true, session: true, rows: wants(0.15, 0.10)},
		{name: "http progress", job: progress, depth: 1, http: true, session: true, rows: perNotification(0.50, 0.25)},
		{name: "client stdio d1", job: echo, depth: 1, client: true, rows: wants(0.90, 0.75)},
		{name: "client stdio d64", job: echo, depth: 64, client: true, rows: wants(0.70, 0.50)},
		{name: "client stdio d64 modern", job: echoModern, depth: 64, client: true, rows: wants(0.80, 0.60)},
		{name: "client http d1", job: echo, depth: 1, http: true, client: true, rows: wants(1.0, 0.90)},
		{name: "client http d64", job: echo, depth: 64, http: true, client: true, rows: wants(0.90, 0.80)},
		{name: "client http d64 modern", job: echoModern, depth: 64, http: true, client: true, rows: wants(1.0, 0.85)},
		&sessionStreams,
		&listenStreams,
		starts("start 4", 0, 1.25, 1.1),
		starts("start 1000 typed", 996, 2.0, 1.3),
	}
	for _, w := range all {
		w.job.prepare()
	}
	return all
}

// row returns the i-th row, with what follows from the workload.
func (w *workload) row(i int) row {
	if w.rows == nil {
		return row{name: w.name, unit: perRequest}
	}
	r := w.rows[i]
	if r.name == "" {
		r.name = w.name
	}
	return r
}

// args are the flags for the measured program, which listens on HTTP unless it
// is a client: clients get the address of the server.
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
	if w.token {
		args = append(args, "-protected")
	}
	if w.job.tools > 0 {
		args = append(args, "-tools", strconv.Itoa(w.job.tools-ownTools-w.job.typed))
	}
	if w.job.typed > 0 {
		args = append(args, "-typed", strconv.Itoa(w.job.typed))
	}
	if w.job.checked {
		args = append(args, "-checked")
	}
	return args
}

// listens tells whether the program is a server that tells its address.
func (w *workload) listens() bool { return w.http && !w.client }

// program is the part of the benchmarks to run for an SDK: its server or its
// client.
func (w *workload) program(name string) string {
	switch {
	case name == direct:
		return oursName
	case name == gateway:
		return ferryName
	case !w.client:
		return name
	case name == oursName:
		return "client"
	}
	return name + "/client"
}

// reference is the program to compare with.
func (w *workload) reference() string {
	if w.floor != "" {
		return w.floor
	}
	return floorName
}

// per is how many things a reply stands for: its notifications, or itself.
func (w *workload) per() int { return max(1, w.job.n) }
