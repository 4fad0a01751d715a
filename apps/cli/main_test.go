package cli_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ferrymcp/ferry/apps/cli"
	"github.com/ferrymcp/ferry/mcptest"
)

// TestMain makes the programs that the scripts run of this test: ferry itself,
// and servers to talk to.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"ferry":    ferry,
		"demo":     serveDemo,
		"asker":    serveAsker,
		"liar":     serveLiar,
		"stubborn": serveStubborn,
	})
}

// ferry is what cmd/ferry does.
func ferry() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(cli.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// TestScripts runs the conversations in testdata. The command "status CODE
// command args" expects an exit code.
func TestScripts(t *testing.T) {
	t.Parallel()
	demoURL := mcptest.Serve(t, newDemo(), nil)
	oldURL := mcptest.ServeSSE(t, newDemo(), nil)
	askerURL := mcptest.Serve(t, newAsker(), nil)
	website := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html>welcome</html>"))
	}))
	t.Cleanup(website.Close)
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer s3cret" {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	t.Cleanup(locked.Close)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("DEMO", demoURL)
			env.Setenv("OLD", oldURL)
			env.Setenv("ASKER", askerURL)
			env.Setenv("WEBSITE", website.URL)
			env.Setenv("LOCKED", locked.URL)
			env.Setenv("TZ", "UTC")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status},
	})
}

// status runs a command and checks its exit code.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status CODE command args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
