package main

import (
	"debug/buildinfo"
	"fmt"
	"runtime"
	"strings"
	"time"
)

// A machine is where, when and with what something was measured.
type machine struct {
	Date      string   `json:"date"`
	Processor string   `json:"processor"`
	Cores     int      `json:"cores"`
	System    string   `json:"system"`
	Go        string   `json:"go"`
	Peers     []string `json:"peers"` // the other implementations, with their versions
	Rounds    int      `json:"rounds"`
	Seconds   float64  `json:"seconds"` // of a run
}

// peerModules are the modules of the other implementations.
var peerModules = map[string]string{
	"github.com/modelcontextprotocol/go-sdk": "go-sdk",
	"github.com/mark3labs/mcp-go":            "mcp-go",
}

// machine describes this one. The programs must have been built.
func (o *options) machine() (*machine, error) {
	processor, system := systemNames()
	m := &machine{
		Date: time.Now().UTC().Format(time.DateOnly), Processor: processor, System: system,
		Cores: runtime.NumCPU(), Go: strings.TrimPrefix(runtime.Version(), "go"),
		Rounds: o.rounds, Seconds: o.duration.Seconds(),
	}
	for _, name := range o.programs {
		if o.paths[name] == "" {
			continue
		}
		info, err := buildinfo.ReadFile(o.paths[name])
		if err != nil {
			return nil, fmt.Errorf("read the versions in %s: %w", name, err)
		}
		for _, d := range info.Deps {
			if peer := peerModules[d.Path]; peer != "" {
				m.Peers = append(m.Peers, peer+" "+d.Version)
			}
		}
	}
	return m, nil
}
