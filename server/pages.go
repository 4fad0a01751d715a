package server

import (
	"errors"
	"strings"

	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/mcp"
)

// A handler whose request cannot go on before the user has visited a web page
// can fail with a *mcp.URLElicitationRequiredError. One revision has a code for
// it. In the stateless ones the result asks the client to show the page and to
// call again; where neither is possible the error is for people to read.

// pages completes the error: each page in its mode and with an id. An error
// without pages, or with one that is no URL, is not for clients.
func pages(e *mcp.URLElicitationRequiredError) (*mcp.URLElicitationRequiredError, error) {
	if len(e.Elicitations) == 0 {
		return nil, errors.New("the user must visit a web page first, and none is named")
	}
	complete := make([]mcp.ElicitParams, len(e.Elicitations))
	for i := range complete {
		page, err := pageOf(&e.Elicitations[i])
		if err != nil {
			return nil, err
		}
		complete[i] = *page
	}
	return &mcp.URLElicitationRequiredError{Elicitations: complete}, nil
}

// pagesText is the error with the pages in its text.
func pagesText(e *mcp.URLElicitationRequiredError) string {
	var b strings.Builder
	b.WriteString(e.Error())
	for _, p := range e.Elicitations {
		b.WriteString("\n" + p.Message + ": " + p.URL)
	}
	return b.String()
}

// legible returns the text of an error of asking that has no form on the wire
// in this caller's revision; "" when it has one, and for other errors.
func (c *Call) legible(err error) string {
	rev := c.from.revision()
	if !rev.Has(revision.ServerRequests) {
		return ""
	}
	if e, ok := errors.AsType[*AnswerError](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*mcp.MissingCapabilityError](err); ok {
		return e.Error()
	}
	e, ok := errors.AsType[*mcp.URLElicitationRequiredError](err)
	if !ok || rev.Has(revision.URLElicitation) && c.from.capabilities().Elicitation.SupportsURL() {
		return ""
	}
	return pagesText(e)
}
