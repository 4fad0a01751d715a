package everything

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/ferrymcp/ferry/apps/servers/internal/result"
	"github.com/ferrymcp/ferry/apps/servers/internal/session"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// addAsking adds the tools that ask the client something.
func addAsking(srv *server.Server, b *beat) {
	add(srv, mcp.Tool{
		Name: "get-roots-list", Title: "Roots", Annotations: hints(true, true, false),
		Description: "Asks the client for its roots and lists them.",
	}, ``, nil, listRoots)
	add(srv, mcp.Tool{
		Name: "trigger-elicitation-request", Title: "Form", Annotations: hints(false, false, false),
		Description: "Shows the user a form with a field of every kind and returns what was filled in.",
	}, ``, nil, askForm)
	add(srv, mcp.Tool{
		Name: "trigger-url-elicitation", Title: "Page", Annotations: hints(false, false, true),
		Description: "Sends the user to a web page and returns whether it was opened.",
	}, `"url":{"type":"string","format":"uri","description":"the page"},`+
		`"message":{"type":"string","default":"Please open the link to complete this action.","description":"what the user is told"},`+
		`"elicitationId":{"type":"string","description":"name for this request; one is made up if not given"},`+
		`"errorPath":{"type":"boolean","default":false,"description":"fail with an error that names another page to visit first, where the protocol has that error; the same call then goes on"}`,
		[]string{"url"}, (&visits{beat: b}).ask)
	add(srv, mcp.Tool{
		Name: "trigger-sampling-request", Title: "Sampling", Annotations: hints(false, false, true),
		Description: "Asks the client's model and returns what it says.",
	}, `"prompt":{"type":"string","description":"what to ask"},`+
		`"maxTokens":{"type":"number","default":100,"description":"how long the answer may be"}`, []string{"prompt"}, askModel)
}

func listRoots(ctx context.Context, c *server.Call, _ none) (*mcp.CallToolResult, error) {
	roots, err := server.Roots(ctx, c, "roots")
	if err != nil {
		return nil, err
	}
	if len(roots) == 0 {
		return texts("The client supports roots but no roots are currently configured.")
	}
	list := make([]string, len(roots))
	for i, r := range roots {
		name := r.Name
		if name == "" {
			name = "Unnamed Root"
		}
		list[i] = fmt.Sprintf("%d. %s\n   URI: %s", i+1, name, r.URI)
	}
	return texts(fmt.Sprintf("Current MCP Roots (%d total):\n\n%s\n\nThey are shown and not used: this server reads no files.", len(roots), strings.Join(list, "\n\n")))
}

// form has a field of every kind.
var form = func() *mcp.FormSchema {
	const text = `{"type":"object","properties":{` +
		`"name":{"title":"String","type":"string","description":"your name"},` +
		`"check":{"title":"Boolean","type":"boolean","description":"whether you agree"},` +
		`"firstLine":{"title":"String with default","type":"string","description":"how a story begins","default":"It was a dark and stormy night."},` +
		`"email":{"title":"String with email format","type":"string","format":"email","description":"your address, which goes nowhere"},` +
		`"homepage":{"title":"String with uri format","type":"string","format":"uri","description":"your page"},` +
		`"birthdate":{"title":"String with date format","type":"string","format":"date","description":"the day you were born"},` +
		`"integer":{"title":"Integer","type":"integer","description":"a whole number that you like","minimum":1,"maximum":100,"default":42},` +
		`"number":{"title":"Number in range 1-1000","type":"number","description":"any number that you like","minimum":0,"maximum":1000,"default":3.14},` +
		`"untitledSingleSelectEnum":{"type":"string","title":"Untitled Single Select Enum","description":"one friend","enum":["Monica","Rachel","Joey","Chandler","Ross","Phoebe"],"default":"Monica"},` +
		`"untitledMultipleSelectEnum":{"type":"array","title":"Untitled Multiple Select Enum","description":"one to three instruments","minItems":1,"maxItems":3,"items":{"type":"string","enum":["Guitar","Piano","Violin","Drums","Bass"]},"default":["Guitar"]},` +
		`"titledSingleSelectEnum":{"type":"string","title":"Titled Single Select Enum","description":"one hero","oneOf":[{"const":"hero-1","title":"Superman"},{"const":"hero-2","title":"Green Lantern"},{"const":"hero-3","title":"Wonder Woman"}],"default":"hero-1"},` +
		`"titledMultipleSelectEnum":{"type":"array","title":"Titled Multiple Select Enum","description":"one to three fish","minItems":1,"maxItems":3,"items":{"anyOf":[{"const":"fish-1","title":"Tuna"},{"const":"fish-2","title":"Salmon"},{"const":"fish-3","title":"Trout"}]},"default":["fish-1"]},` +
		`"legacyTitledEnum":{"type":"string","title":"Legacy Titled Single Select Enum","description":"one pet","enum":["pet-1","pet-2","pet-3","pet-4","pet-5"],"enumNames":["Cats","Dogs","Birds","Fish","Reptiles"],"default":"pet-1"}` +
		`},"required":["name"]}`
	f := new(mcp.FormSchema)
	if err := json.Unmarshal([]byte(text), f); err != nil {
		panic("everything: the form: " + err.Error())
	}
	return f
}()

// shown are the fields of the form that are returned as a text.
var shown = []struct{ field, name string }{
	{"name", "Name"},
	{"check", "Agreed to terms"},
	{"email", "Email"},
	{"homepage", "Homepage"},
	{"birthdate", "Birthdate"},
	{"integer", "Favorite Integer"},
	{"number", "Favorite Number"},
}

func askForm(ctx context.Context, c *server.Call, _ none) (*mcp.CallToolResult, error) {
	answer, err := server.ElicitForm(ctx, c, "form", "Please provide inputs for the following fields:", form)
	if err != nil {
		return nil, err
	}
	var list []string
	switch answer.Action {
	case mcp.ElicitAccept:
		inputs, err := inputsOf(answer)
		if err != nil {
			return nil, err
		}
		list = append(list, "✅ User provided the requested information!", "User inputs:\n"+inputs)
	case mcp.ElicitDecline:
		list = append(list, "❌ User declined to provide the requested information.")
	default:
		list = append(list, "⚠️ User cancelled the elicitation dialog.")
	}
	return withAnswer(answer, list...)
}

// inputsOf lists what was filled in.
func inputsOf(answer *mcp.ElicitResult) (string, error) {
	values := map[string]any{}
	if err := answer.Decode(&values); err != nil {
		return "", err
	}
	var lines []string
	for _, s := range shown {
		switch v := values[s.field].(type) {
		case nil:
		case float64:
			lines = append(lines, fmt.Sprintf("- %s: %s", s.name, number(v)))
		default:
			lines = append(lines, fmt.Sprintf("- %s: %v", s.name, v))
		}
	}
	return strings.Join(lines, "\n"), nil
}

// withAnswer makes a result that ends with the client's answer as it came.
func withAnswer(answer *mcp.ElicitResult, list ...string) (*mcp.CallToolResult, error) {
	raw, err := result.Text(struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content,omitempty"`
	}{answer.Action, answer.Content})
	if err != nil {
		return nil, err
	}
	return texts(append(list, "\nRaw result: "+raw)...)
}

// visits remembers which calls have failed with a page to visit first.
type visits struct {
	beat     *beat
	sessions session.Store[visited]
}

type visited struct {
	mu    sync.Mutex
	pages map[string]bool
}

// maxVisits is how many calls of a session are remembered.
const maxVisits = 100

// toggle reports whether a call comes again, and forgets it then.
func (v *visited) toggle(key string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.pages[key] {
		delete(v.pages, key)
		return true
	}
	if v.pages == nil || len(v.pages) >= maxVisits {
		v.pages = map[string]bool{}
	}
	v.pages[key] = true
	return false
}

type page struct {
	URL       string  `json:"url"`
	Message   *string `json:"message"`
	ID        string  `json:"elicitationId"`
	ErrorPath bool    `json:"errorPath"`
}

// firstPage is the one to visit first. It must be another than the one that is asked
// for, or clients would go in circles.
var firstPage = mcp.ElicitParams{
	Mode: mcp.ElicitURL, URL: "https://modelcontextprotocol.io", Message: "Open this page first; then the call goes on.",
}

func (v *visits) ask(ctx context.Context, c *server.Call, in page) (*mcp.CallToolResult, error) {
	if in.ErrorPath {
		if err := v.first(ctx, c, in); err != nil {
			return nil, err
		}
	}
	id := in.ID
	if id == "" {
		made, err := server.Once(ctx, c, "id", func(context.Context) (string, error) { return rand.Text(), nil })
		if err != nil {
			return nil, err
		}
		id = made
	}
	answer, err := server.ElicitURL(ctx, c, "page", &mcp.ElicitParams{
		URL: in.URL, Message: or(in.Message, "Please open the link to complete this action."), ElicitationID: id,
	})
	if err != nil {
		return nil, err
	}
	switch answer.Action {
	case mcp.ElicitAccept:
		return withAnswer(answer, fmt.Sprintf("✅ User completed the URL elicitation flow.\nElicitation ID: %s\nURL: %s", id, in.URL))
	case mcp.ElicitDecline:
		return withAnswer(answer, fmt.Sprintf("❌ User declined to open the URL (Elicitation ID: %s).", id))
	default:
		return withAnswer(answer, fmt.Sprintf("⚠️ User cancelled the URL elicitation (Elicitation ID: %s).", id))
	}
}

// first has the user visit another page first: with an error in sessions, where the
// client calls again, and with a question in stateless calls.
func (v *visits) first(ctx context.Context, c *server.Call, in page) error {
	sess := c.Session()
	if sess == nil {
		_, err := server.ElicitURL(ctx, c, "first page", &firstPage)
		return err
	}
	if v.sessions.Of(sess).toggle(in.URL + "\x00" + in.ID) {
		return nil
	}
	first := firstPage
	first.ElicitationID = rand.Text()
	v.beat.visited(sess, first.ElicitationID)
	return &mcp.URLElicitationRequiredError{Elicitations: []mcp.ElicitParams{first}}
}

func askModel(ctx context.Context, c *server.Call, in struct {
	Prompt    string   `json:"prompt"`
	MaxTokens *float64 `json:"maxTokens"`
},
) (*mcp.CallToolResult, error) {
	said, err := server.Sample(ctx, c, "sample", &mcp.CreateMessageParams{
		Messages: []mcp.SamplingMessage{{
			Role:    mcp.RoleUser,
			Content: mcp.SamplingContent{mcp.Text("Resource trigger-sampling-request context: " + in.Prompt)},
		}},
		SystemPrompt: "You are a helpful test server.",
		MaxTokens:    int64(min(max(or(in.MaxTokens, 100), 1), 1<<20)),
		Temperature:  mcp.Ptr(0.7),
	})
	if err != nil {
		return nil, err
	}
	text, err := result.Text(said)
	if err != nil {
		return nil, err
	}
	return texts("LLM sampling result: \n" + text)
}
