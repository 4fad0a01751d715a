package main

import "github.com/ferrymcp/ferry/bench/program"

// costs are workloads beside the ones with a target: what single features cost.
func costs() []*workload {
	checked := func(tool, arguments string) job {
		return job{method: toolsCall, tool: tool, arguments: arguments, checked: true}
	}
	ask := job{method: toolsCall, tool: program.Ask, arguments: "{}", checked: true, modern: true, asks: true}
	all := []*workload{
		{name: "stdio d64 typical schema", job: checked(program.Typical, program.TypicalArguments), depth: 64},
		{name: "stdio d64 hard schema", job: checked(program.Hard, program.HardArguments), depth: 64},
		{
			name: "http modern c32 asking", job: ask, depth: 32, http: true, stateless: true,
			rows: []row{{unit: "µs CPU / 2 requests"}}, programs: []string{oursName}, floor: oursName,
		},
		{
			name: "http modern c32 with a token", job: echoModern, depth: 32, http: true, stateless: true, token: true,
			rows: []row{{unit: perRequest}}, programs: []string{oursName}, floor: oursName,
		},
		through("http session c32, stdio server", echo, 32, upstreamStdio),
		through("http session c1, http server", echo, 1, upstreamModern),
		through("http session c32, legacy server", echo, 32, upstreamLegacy),
		through("http session c32, modern server", echo, 32, upstreamModern),
		through("http modern c32, legacy server", echoModern, 32, upstreamLegacy),
		through("http modern c32, modern server", echoModern, 32, upstreamModern),
	}
	for _, w := range all {
		w.job.prepare()
	}
	return all
}
