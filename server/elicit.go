package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"sync"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/internal/schema"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// An Answer is what a user did with a form.
type Answer[T any] struct {
	// Action is mcp.ElicitAccept, mcp.ElicitDecline or mcp.ElicitCancel.
	Action string
	// Value is what the user filled in; zero unless the form was accepted.
	Value T
}

// Accepted reports whether the user has filled in the form.
func (a Answer[T]) Accepted() bool { return a.Action == mcp.ElicitAccept }

// Elicit shows the user a form with the fields of T and returns what was filled
// in. T is a struct of texts, numbers, booleans, choices (a string with an enum)
// and lists of choices; fields are tagged as those of tool arguments, and
// `titles=Red|Green` names the choices. A field must be filled in unless it is a
// pointer or tagged omitempty or omitzero. Forms are not for secrets: see
// [ElicitURL].
//
// The key is a name of the question, unique within the handler: the same key is
// the same question, and has the same answer. The error is
//
//   - [ErrInputRequired] when the handler has to end first; see there,
//   - a *mcp.MissingCapabilityError when the client cannot show forms; a handler
//     that can do without returns something else, the others return the error,
//   - an *[AnswerError] when the client answers with an error or with something
//     that does not fit the form,
//   - the cause of ctx when it has ended.
func Elicit[T any](ctx context.Context, c *Call, key, message string) (Answer[T], error) {
	var answer Answer[T]
	form, err := formOf(reflect.TypeFor[T]())
	if err != nil {
		return answer, err
	}
	_, err = c.elicit(ctx, key, &mcp.ElicitParams{Message: message, RequestedSchema: form}, func(r *mcp.ElicitResult) error {
		answer.Action = r.Action
		return r.Decode(&answer.Value)
	})
	if err != nil {
		return Answer[T]{}, err
	}
	return answer, nil
}

// ElicitForm is [Elicit] for a form that is not known to Go. The content of the
// result is complete and fits the form; it is nil unless the form was accepted.
func ElicitForm(ctx context.Context, c *Call, key, message string, form *mcp.FormSchema) (*mcp.ElicitResult, error) {
	if form == nil {
		return nil, errors.New("ask with a form: there is none")
	}
	return c.elicit(ctx, key, &mcp.ElicitParams{Message: message, RequestedSchema: form}, nil)
}

// ElicitURL sends the user to a web page, for what must not pass through the
// client, such as a password. Of p the message, the URL and, where the page
// should be recognized again, the elicitation id count. That the user accepts
// means only that the page is opened; whether anything was done there is for
// the server to know. See [Elicit] for the key and the errors.
//
// Whoever opens the page must prove to be the user who was asked: a link can be
// passed on.
func ElicitURL(ctx context.Context, c *Call, key string, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	return c.elicit(ctx, key, &mcp.ElicitParams{Mode: mcp.ElicitURL, Message: p.Message, URL: p.URL, ElicitationID: p.ElicitationID}, nil)
}

// pageOf returns complete parameters for sending a user to a page.
func pageOf(p *mcp.ElicitParams) (*mcp.ElicitParams, error) {
	if u, err := url.Parse(p.URL); err != nil || u.Scheme == "" || u.Host == "" && u.Opaque == "" {
		return nil, fmt.Errorf("send the user to %q: that is no URL", p.URL)
	}
	page := *p
	page.Mode, page.RequestedSchema = mcp.ElicitURL, nil
	if page.ElicitationID == "" {
		page.ElicitationID = rand.Text()
	}
	return &page, nil
}

// formToAsk returns complete parameters for showing a form. Without one the user
// is asked to agree.
func formToAsk(p *mcp.ElicitParams) (*mcp.ElicitParams, error) {
	if p.Mode != "" && p.Mode != mcp.ElicitForm {
		return nil, fmt.Errorf("ask the user: there is no mode %q", p.Mode)
	}
	form := *p
	form.URL, form.ElicitationID = "", ""
	if form.RequestedSchema == nil {
		form.RequestedSchema = &mcp.FormSchema{}
	}
	if d := form.RequestedSchema.Dialect; d != "" && !schema.KnownDialect(d) {
		return nil, fmt.Errorf("ask with a form: dialect %s of JSON Schema is not supported", d)
	}
	if err := form.RequestedSchema.Validate(); err != nil {
		return nil, fmt.Errorf("ask with a form: %w", err)
	}
	return &form, nil
}

// elicit asks the user. read, unless nil, reads what was answered.
func (c *Call) elicit(ctx context.Context, key string, p *mcp.ElicitParams, read func(*mcp.ElicitResult) error) (*mcp.ElicitResult, error) {
	var result mcp.ElicitResult
	err := c.ask(ctx, key, mcp.ElicitInput(p), func(raw json.RawMessage) error {
		if err := ijson.Unmarshal(raw, &result); err != nil {
			return err
		}
		if err := c.complete(&result, p.RequestedSchema); err != nil {
			return err
		}
		if read != nil {
			return read(&result)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &result, nil
}

// complete checks what a user did, and completes what was filled in; nil is no
// form.
func (c *Call) complete(r *mcp.ElicitResult, form *mcp.FormSchema) error {
	switch {
	case r.Action != mcp.ElicitAccept && r.Action != mcp.ElicitDecline && r.Action != mcp.ElicitCancel:
		return fmt.Errorf("action is %q, want %q, %q or %q", r.Action, mcp.ElicitAccept, mcp.ElicitDecline, mcp.ElicitCancel)
	case r.Action != mcp.ElicitAccept || form == nil:
		r.Content = nil
		return nil
	}
	content := r.Content
	if !c.from.revision().Has(revision.FormLists) {
		content = revision.JoinChoices(form, content)
	}
	content, err := form.Fill(content)
	r.Content = content
	return err
}

// forms are the forms of Go types that have been asked for.
var forms sync.Map // reflect.Type to *mcp.FormSchema

func formOf(t reflect.Type) (*mcp.FormSchema, error) {
	if known, ok := forms.Load(t); ok {
		form, _ := known.(*mcp.FormSchema)
		return form, nil
	}
	form, err := schema.InferForm(t)
	if err != nil {
		return nil, err
	}
	forms.Store(t, form)
	return form, nil
}

// ElicitationComplete tells the client that the user is done with the page of
// that elicitation id; see [ElicitURL]. It does nothing when the session is nil,
// and for clients of revisions that do not have it.
func (sess *Session) ElicitationComplete(id string) error {
	if sess == nil || sess.sub == nil || !sess.revision().DefinesServer(mcp.NotificationElicitationComplete) {
		return nil
	}
	buf := jsonrpc.GetBuffer()
	defer jsonrpc.PutBuffer(buf)
	p := &mcp.ElicitationCompleteParams{ElicitationID: id}
	if err := jsonrpc.WriteNotification(buf, mcp.NotificationElicitationComplete, p); err != nil {
		return err
	}
	return sess.sub.out(buf.Bytes())
}
