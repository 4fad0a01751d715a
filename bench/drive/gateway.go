package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// The programs of a workload about the gateway: requests go straight to a server
// or through `ferry up`. What is measured is the one they go to.
const (
	direct  = "direct"
	gateway = "gateway"
)

// An upstream is the server behind the gateway.
type upstream int

const (
	upstreamStdio  upstream = iota // ours, over its standard input and output
	upstreamModern                 // ours, over HTTP
	upstreamLegacy                 // the floor over HTTP: it knows sessions only
)

// through makes a workload with a gateway between driver and server.
func through(name string, j job, depth int, to upstream) *workload {
	return &workload{
		name: "gateway " + name, job: j, depth: depth, http: true, session: !j.modern,
		programs: []string{gateway, direct}, floor: direct, needs: []string{oursName, floorName},
		measure: func(s *settings, w *workload, program string) ([]sample, error) {
			if program == direct {
				return s.load(w, program)
			}
			return s.gateway(w, to)
		},
	}
}

func (s *settings) gateway(w *workload, to upstream) (samples []sample, err error) {
	entry := map[string]any{"prefix": ""}
	if to == upstreamStdio {
		entry["command"], entry["args"] = s.paths[oursName], []string{"-stdio"}
	} else {
		name := oursName
		if to == upstreamLegacy {
			name = floorName
		}
		server, err := start(s.paths[name], []string{"-http", "127.0.0.1:0"}, 1)
		if err != nil {
			return nil, err
		}
		defer server.stop()
		entry["url"] = "http://" + server.address + "/mcp"
	}
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"bench": entry}})
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bench-gateway-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "mcp.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return nil, err
	}
	p, err := start(s.paths[ferryName], []string{"up", "--no-builtin", "--address", "127.0.0.1:0", "--config", file}, 1)
	if err != nil {
		return nil, fmt.Errorf("start the gateway: %w", err)
	}
	defer p.stop()
	return s.drive(p, nil, w, gateway)
}
