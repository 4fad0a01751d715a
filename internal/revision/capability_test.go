package revision_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/mcp"
)

func TestClientCapabilities(t *testing.T) {
	t.Parallel()
	yes := &mcp.Support{}
	full := mcp.ClientCapabilities{
		Roots:        &mcp.RootsCapability{ListChanged: true},
		Sampling:     &mcp.SamplingCapability{Tools: yes, Context: yes},
		Elicitation:  &mcp.ElicitationCapability{Form: yes, URL: yes},
		Tasks:        &mcp.TasksCapability{List: yes},
		Experimental: map[string]json.RawMessage{"e": json.RawMessage(`{}`)},
		Extra:        map[string]json.RawMessage{"x": json.RawMessage(`{}`)},
	}
	const oldest = `{"experimental":{"e":{}},"roots":{"listChanged":true},"sampling":{},"x":{}}`
	tests := []struct {
		name string
		c    mcp.ClientCapabilities
		want map[string]string
	}{
		{"everything", full, map[string]string{
			r1: oldest, r2: oldest,
			r3: `{"elicitation":{},"experimental":{"e":{}},"roots":{"listChanged":true},"sampling":{},"x":{}}`,
			r4: `{"elicitation":{"form":{},"url":{}},"experimental":{"e":{}},"roots":{"listChanged":true},
				"sampling":{"context":{},"tools":{}},"tasks":{"list":{}},"x":{}}`,
			r5: `{"elicitation":{"form":{},"url":{}},"experimental":{"e":{}},"roots":{},"sampling":{"context":{},"tools":{}},"x":{}}`,
		}},
		{"nothing", mcp.ClientCapabilities{}, same(`{}`, nil)},
		{"web pages only", mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{URL: yes}}, same(`{"elicitation":{"url":{}}}`,
			map[string]string{r1: `{}`, r2: `{}`, r3: `{}`})},
		{"forms, unsaid", mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{}}, same(`{"elicitation":{}}`,
			map[string]string{r1: `{}`, r2: `{}`})},
	}
	for _, test := range tests {
		for _, r := range revision.All() {
			got, err := json.Marshal(r.ClientCapabilities(test.c))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(decoded(t, test.want[r.Name()]), decoded(t, string(got))); d != "" {
				t.Errorf("%s, %s: -want +got\n%s", test.name, r, d)
			}
		}
	}
}

func TestEncodeAnswers(t *testing.T) {
	t.Parallel()
	sampled := func(blocks ...mcp.Content) func() *mcp.CreateMessageResult {
		return func() *mcp.CreateMessageResult {
			return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Model: "m", Content: blocks}
		}
	}
	says := func(content string) string { return `{"role":"assistant","model":"m","content":` + content + `}` }
	two := says(`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`)
	joined := says(`{"type":"text","text":"a\nb"}`)
	encodes(t, sampled(mcp.Text("a"), mcp.Text("b")), map[string]string{r1: joined, r2: joined, r3: joined, r4: two, r5: two})
	encodes(t, sampled(mcp.Text("a")), same(says(`{"type":"text","text":"a"}`), nil))
	sound := says(`{"type":"audio","data":"AQ==","mimeType":"audio/wav"}`)
	encodes(t, sampled(mcp.Audio([]byte{1}, "audio/wav")), same(sound, map[string]string{r1: says(`{"type":"text","text":"(audio/wav)"}`)}))
	images := says(`[{"type":"image","data":"AQ==","mimeType":"image/png"},{"type":"image","data":"Ag==","mimeType":"image/png"}]`)
	image := says(`{"type":"image","data":"AQ==","mimeType":"image/png"}`)
	encodes(t, sampled(mcp.Image([]byte{1}, "image/png"), mcp.Image([]byte{2}, "image/png")),
		map[string]string{r1: image, r2: image, r3: image, r4: images, r5: images})

	bare := `{"roots":[{"uri":"file:///a","name":"n"}]}`
	encodes(t, func() *mcp.ListRootsResult {
		return &mcp.ListRootsResult{Roots: []mcp.Root{{URI: "file:///a", Name: "n", Meta: mcp.Meta{"k": json.RawMessage("1")}}}}
	}, same(`{"roots":[{"uri":"file:///a","name":"n","_meta":{"k":1}}]}`, map[string]string{r1: bare, r2: bare}))
	encodes(t, func() *mcp.ElicitResult {
		return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: json.RawMessage(`{"a":1}`)}
	}, same(`{"action":"accept","content":{"a":1}}`, nil))
}
