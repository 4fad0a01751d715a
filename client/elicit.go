package client

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"net/url"
	"slices"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/internal/schema"
	"github.com/ferrymcp/ferry/mcp"
)

// elicit asks the user with the handler. What the user filled in is checked
// against the form and completed with its defaults.
func (c *Client) elicit(ctx context.Context, rev *revision.Revision, declared *mcp.ElicitationCapability, params *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	if params == nil {
		return nil, invalidQuestion("params are missing")
	}
	if problem := checkElicit(declared, params); problem != "" {
		return nil, invalidQuestion("%s", problem)
	}
	asked := *params
	if !asked.IsURL() && asked.RequestedSchema == nil {
		asked.RequestedSchema = &mcp.FormSchema{} // a mere confirmation
	}
	result, err := contained(ctx, c, c.opts.OnElicit, &asked)
	if err != nil {
		return nil, err
	}
	answer := *result
	if result.Accepted() && !asked.IsURL() {
		if answer.Content, err = asked.RequestedSchema.Fill(result.Content); err != nil {
			return nil, fmt.Errorf("what the handler returned does not fit the form: %w", err)
		}
	}
	return elicitAnswer(rev, &asked, &answer)
}

// elicitAnswer returns an answer as a server of the revision may have it: with
// content only when a form was accepted, and there only what forms are made of.
func elicitAnswer(rev *revision.Revision, asked *mcp.ElicitParams, result *mcp.ElicitResult) (*mcp.ElicitResult, error) {
	answer := mcp.ElicitResult{Action: result.Action}
	answer.Meta = result.Meta
	switch {
	case result.Action == mcp.ElicitDecline || result.Action == mcp.ElicitCancel:
	case result.Action != mcp.ElicitAccept:
		return nil, fmt.Errorf("the handler returned the unknown action %q", result.Action)
	case !asked.IsURL():
		for name, value := range json.Members(result.Content) {
			if !inForms(rev, value) {
				return nil, fmt.Errorf("field %q: forms of %s have no values like %.40s", name, rev.Name(), value)
			}
		}
		answer.Content = result.Content
	}
	return &answer, nil
}

// inForms reports whether a value is one that forms of the revision can have: a
// text, a number, true or false, and in newer ones a list of texts.
func inForms(rev *revision.Revision, value stdjson.RawMessage) bool {
	switch value[0] {
	case '{', 'n':
		return false
	case '[':
		var texts []stdjson.RawMessage
		return rev.Has(revision.FormLists) && json.Unmarshal(value, &texts) == nil &&
			!slices.ContainsFunc(texts, func(text stdjson.RawMessage) bool { return text[0] != '"' })
	}
	return true
}

// checkElicit tells why the user is not asked; "" means that nothing stands
// against it.
func checkElicit(declared *mcp.ElicitationCapability, params *mcp.ElicitParams) string {
	able := declared.SupportsForm()
	switch params.Mode {
	case "", mcp.ElicitForm:
	case mcp.ElicitURL:
		able = declared.SupportsURL()
	default:
		return "unknown mode"
	}
	switch {
	case !able:
		return "the client has not declared the mode of the request"
	case params.IsURL() && !isWebPage(params.URL):
		return "url is not the URL of a web page"
	case params.RequestedSchema != nil && params.RequestedSchema.Dialect != "" && !schema.KnownDialect(params.RequestedSchema.Dialect):
		return "requestedSchema is of a dialect of JSON Schema that is not supported"
	}
	return ""
}

// isWebPage reports whether a text is a URL that is safe to show to a browser:
// other schemes than those of the web may run code or open files.
func isWebPage(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}
