package mcptest_test

import (
	"slices"
	"testing"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
)

func TestCompletion(t *testing.T) {
	mcptest.Proves(t, "COMPL-ARGUMENT", "COMPL-CONTEXT", "COMPL-TOTAL-HASMORE", "COMPL-NO-CAP-2024")
	mcptest.Matrix(t, everything, func(t *testing.T, sess *client.Session) {
		if declared := sess.ServerCapabilities().Completions != nil; declared != (sess.Revision() > "2024-11-05") {
			t.Errorf("completion is declared: %t", declared)
		}
		complete := func(ref mcp.Reference, name, value string) (*mcp.CompleteResult, error) {
			return sess.Complete(t.Context(), &mcp.CompleteParams{
				Ref: ref, Argument: mcp.CompleteArgument{Name: name, Value: value},
				Context: &mcp.CompleteContext{Arguments: map[string]string{"family": "smith"}},
			})
		}
		city, err := complete(mcp.PromptRef("travel"), "city", "ber")
		if err != nil || !slices.Equal(city.Completion.Values, []string{"Berlin", "Bern", "New Bern"}) || *city.Completion.Total != 3 {
			t.Errorf("city: got %+v, %v", city, err)
		}
		name, err := complete(mcp.ResourceRef("letter:{name}"), "name", "adam")
		if err != nil || !slices.Equal(name.Completion.Values, []string{"adam smith"}) {
			t.Errorf("name: got %+v, %v", name, err)
		}
		_, err = complete(mcp.PromptRef("nope"), "city", "")
		wantCode(t, err, jsonrpc.CodeInvalidParams)
	})
}
