package mcptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// seedsEnv tells how many seeds to try; a few when it is not set.
const seedsEnv = "FERRY_CHAOS_SEEDS"

func seeds(t *testing.T, few int) uint64 {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv(seedsEnv))
	if err != nil {
		n = few
	}
	return uint64(n)
}

// TestScenariosUnderChaos runs the scenarios over connections that split and
// delay everything, and give some responses twice: they must not notice.
func TestScenariosUnderChaos(t *testing.T) {
	scenarios := map[string]func(*testing.T){
		"introductions": TestIntroductions,
		"lists":         TestListsInPages,
		"calls":         TestCalls,
		"progress":      TestProgressIsInOrderAndBeforeTheResult,
		"cancel":        TestCancelReachesTheHandler,
		"reads":         TestReads,
		"prompts":       TestPrompts,
		"completion":    TestCompletion,
		"log":           TestLogMessages,
		"asking":        TestAsking,
		"many":          TestManyCallsAtOnce,
		"subscriptions": TestSubscriptions,
		"messages":      TestEveryMessage,
	}
	rough = true
	defer func() { rough = false }()
	for seed := range seeds(t, 1) {
		for name, scenario := range scenarios {
			t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) {
				defer mcptest.Disturb(&mcptest.Chaos{Seed: seed, Repeat: true})()
				scenario(t)
			})
		}
	}
}

// A ledger counts what was done for each key.
type ledger struct {
	mu    sync.Mutex
	times map[string]int
}

func (l *ledger) done(key string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.times[key]
}

// server has a tool that notes each call.
func (l *ledger) server() *server.Server {
	srv := server.New(mcp.Implementation{Name: "ledger", Version: "1"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "note"}, func(ctx context.Context, c *server.Call, in struct {
		Key string `json:"key"`
	},
	) (string, error) {
		l.mu.Lock()
		l.times[in.Key]++
		l.mu.Unlock()
		for i := range 3 {
			if err := c.Progress(ctx, float64(i+1), 3, in.Key); err != nil {
				return "", err
			}
		}
		return "noted " + in.Key, nil
	})
	return srv
}

// typed reports whether an error is of a kind that callers can tell apart.
func typed(err error) bool {
	_, unreachable := errors.AsType[*client.UnreachableError](err)
	_, timeout := errors.AsType[*client.TimeoutError](err)
	_, protocol := errors.AsType[*client.ProtocolError](err)
	_, renewed := errors.AsType[*client.SessionRenewedError](err)
	_, connect := errors.AsType[*client.ConnectError](err)
	_, version := errors.AsType[*client.VersionError](err)
	_, remote := errors.AsType[*jsonrpc.Error](err)
	return unreachable || timeout || protocol || renewed || connect || version || remote
}

// TestCutConnections cuts connections at any byte. What was answered was done
// once, what failed was done once at most, and nothing takes long.
func TestCutConnections(t *testing.T) {
	mcptest.NoLeaks(t)
	mcptest.Proves(t, "HTTP-REISSUE-NEW-ID")
	rough = true
	defer func() { rough = false }()
	done, failed := 0, 0
	for seed := range seeds(t, 3) {
		book := &ledger{times: map[string]int{}}
		grid := mcptest.Grid{
			Server: book.server, Carriers: []mcptest.Carrier{mcptest.Memory, mcptest.HTTP},
			Chaos: &mcptest.Chaos{Seed: seed, Cut: 12_000, Repeat: true},
		}
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			grid.Reach(t, func(t *testing.T, connect func() (*client.Session, error), name string) {
				for round := range 3 {
					began := time.Now()
					sess, err := connect()
					if err != nil {
						failed++
						if !typed(err) {
							t.Errorf("connect: %T %v", err, err)
						}
						continue
					}
					good, bad := noteAll(t, sess, book, fmt.Sprintf("%s/%d", name, round))
					done, failed = done+good, failed+bad
					if err := sess.Close(); err != nil {
						t.Errorf("close: %v", err)
					}
					if took := time.Since(began); took > 15*time.Second {
						t.Errorf("it took %v", took)
					}
				}
			})
		})
	}
	t.Logf("%d calls were answered, %d failed", done, failed)
	if done == 0 || failed == 0 {
		t.Errorf("%d calls were answered and %d failed: the cuts are at the wrong places", done, failed)
	}
}

// noteAll makes calls at once and looks at what came of each.
func noteAll(t *testing.T, sess *client.Session, book *ledger, name string) (good, bad int) {
	t.Helper()
	var mu sync.Mutex
	var calls sync.WaitGroup
	for i := range 24 {
		calls.Go(func() {
			key, steps := fmt.Sprintf("%s/%d", name, i), 0.0
			result, err := sess.CallTool(t.Context(),
				&mcp.CallToolParams{Name: "note", Arguments: json.RawMessage(`{"key":"` + key + `"}`)},
				&client.CallOptions{Progress: func(p mcp.ProgressParams) {
					if p.Progress <= steps || p.Message != key && p.Message != "" {
						t.Errorf("%s: progress %+v after %v", key, p, steps)
					}
					steps = p.Progress
				}})
			times := book.done(key)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && (result.IsError || len(result.Content) != 1 || result.Content[0].Text != "noted "+key || times != 1):
				t.Errorf("%s: got %+v after it was done %d times", key, result, times)
			case err == nil:
				good++
			case times > 1 || !typed(err):
				t.Errorf("%s: got %T %v after it was done %d times", key, err, err, times)
			default:
				bad++
			}
		})
	}
	calls.Wait()
	return good, bad
}
