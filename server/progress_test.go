package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"testing/synctest"

	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

func TestProgress(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "PROG-INCREASING", "PROG-RATE-LIMIT", "PROG-FLOAT", "PROG-OPTIONAL", "PROG-STOP", "PROG-ACTIVE-ONLY")
	tests := []struct {
		name  string
		rate  int
		steps []float64
		want  string
	}{
		{"only what grows", 0, []float64{1, 1, 0.5, math.NaN(), math.Inf(1), 1.5, -1, 2}, "[1 1.5 2]"},
		{"may begin below zero", 0, []float64{-2, -1, 0}, "[-2 -1 0]"},
		{"first and last", 1, []float64{1, 2, 3, 4}, "[1 4]"},
		{"some in between", 2, []float64{1, 2, 3, 4}, "[1 2 4]"},
		{"no limit", -1, []float64{1, 2, 3, 4}, "[1 2 3 4]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				got := []float64{}
				for _, raw := range logged(t, &server.Options{ProgressRate: tt.rate}, "error", `,"_meta":{"progressToken":"t","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`,
					func(ctx context.Context, c *server.Call) error {
						for _, step := range tt.steps {
							if err := c.Progress(ctx, step, 0, ""); err != nil {
								return err
							}
						}
						return nil
					}) {
					var p mcp.ProgressParams
					if err := json.Unmarshal([]byte(raw), &p); err != nil || p.ProgressToken != jsonrpc.StringID("t") {
						t.Errorf("got %s, %v", raw, err)
					}
					got = append(got, p.Progress)
				}
				if fmt.Sprint(got) != tt.want {
					t.Errorf("got %v, want %s", got, tt.want)
				}
			})
		})
	}
}
