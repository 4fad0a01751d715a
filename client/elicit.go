package client

import (
	"context"
	"fmt"
	"net/url"

	"github.com/ferrymcp/ferry/mcp"
)

// elicit asks the user with the handler. What the user filled in is checked
// against the form and completed with its defaults.
func (c *Client) elicit(ctx context.Context, declared *mcp.ElicitationCapability, params *mcp.ElicitParams) (*mcp.ElicitResult, error) {
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
	answer := mcp.ElicitResult{Action: result.Action}
	answer.Meta = result.Meta
	switch {
	case result.Action == mcp.ElicitDecline || result.Action == mcp.ElicitCancel:
	case result.Action != mcp.ElicitAccept:
		return nil, fmt.Errorf("the handler returned the unknown action %q", result.Action)
	case !asked.IsURL():
		if answer.Content, err = asked.RequestedSchema.Fill(result.Content); err != nil {
			return nil, fmt.Errorf("what the handler returned does not fit the form: %w", err)
		}
	}
	return &answer, nil
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
	}
	return ""
}

// isWebPage reports whether a text is a URL that is safe to show to a browser:
// other schemes than those of the web may run code or open files.
func isWebPage(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}
