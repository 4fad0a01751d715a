package host

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// A kind is a set of lists.
type kind uint8

const (
	kindTools kind = 1 << iota
	kindPrompts
	kindResources
	kindTemplates
	kindAll = kindTools | kindPrompts | kindResources | kindTemplates
)

// maxListed bounds one list of one server.
const maxListed = 20_000

// lists is what a server offers. The slices are replaced, never changed.
type lists struct {
	tools     []mcp.Tool
	prompts   []mcp.Prompt
	resources []mcp.Resource
	templates []mcp.ResourceTemplate
}

// join reads all lists for the first time and shows them. A list that cannot be
// read is tried again later: the others are of use without it.
func (u *upstream) join(ctx context.Context, sess *client.Session) {
	fresh, failed := u.fetch(ctx, sess, kindAll, lists{})
	if ctx.Err() != nil || sess.Err() != nil {
		return // whoever called sees it next
	}
	u.host.update(func() {
		if failed != 0 {
			fresh = u.lists.withOnly(failed, fresh)
			u.pending |= failed
			u.rouse()
		}
		u.lists, u.session = fresh, sess
		u.server, u.revision = sess.ServerInfo(), sess.Revision()
		u.enterLocked(Ready, nil)
		u.attempts = 0
	})
	u.settle.Do(func() { close(u.settled) })
	u.log.Info("server is ready", slog.String("revision", sess.Revision()))
}

// withOnly returns fresh with the old lists in the places that are named.
func (l lists) withOnly(old kind, fresh lists) lists {
	if old&kindTools != 0 {
		fresh.tools = l.tools
	}
	if old&kindPrompts != 0 {
		fresh.prompts = l.prompts
	}
	if old&kindResources != 0 {
		fresh.resources = l.resources
	}
	if old&kindTemplates != 0 {
		fresh.templates = l.templates
	}
	return fresh
}

// refresh reads again what has changed. It returns what could not be read.
func (u *upstream) refresh(ctx context.Context, sess *client.Session) (failed kind) {
	u.host.mu.Lock()
	want, old := u.pending, u.lists
	u.pending = 0
	u.host.mu.Unlock()
	if want == 0 {
		return 0
	}
	fresh, failed := u.fetch(ctx, sess, want, old)
	if ctx.Err() != nil || sess.Err() != nil {
		return 0
	}
	u.host.update(func() { u.lists = fresh })
	return failed
}

// fetch reads lists into a copy of old. What the server does not declare, or
// does not know after all, is empty.
func (u *upstream) fetch(ctx context.Context, sess *client.Session, want kind, old lists) (fresh lists, failed kind) {
	caps := sess.ServerCapabilities()
	fresh = old
	read := func(what kind, name string, list func(context.Context) error) {
		if want&what == 0 {
			return
		}
		limited, cancel := context.WithTimeout(ctx, u.host.opts.ConnectTimeout)
		defer cancel()
		if err := list(limited); err != nil {
			failed |= what
			if sess.Err() == nil && ctx.Err() == nil {
				u.log.Warn("list not read, trying again later", slog.String("list", name), slog.Any("error", err))
			}
		}
	}
	read(kindTools, "tools", func(ctx context.Context) error {
		return collect(&fresh.tools, caps.Tools != nil, sess.Tools(ctx))
	})
	read(kindPrompts, "prompts", func(ctx context.Context) error {
		return collect(&fresh.prompts, caps.Prompts != nil, sess.Prompts(ctx))
	})
	read(kindResources, "resources", func(ctx context.Context) error {
		return collect(&fresh.resources, caps.Resources != nil, sess.Resources(ctx))
	})
	read(kindTemplates, "resource templates", func(ctx context.Context) error {
		return collect(&fresh.templates, caps.Resources != nil, sess.ResourceTemplates(ctx))
	})
	return fresh, failed
}

var errMethodNotFound = &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound}

// collect reads one list to its end. On an error the old list stays.
func collect[T any](list *[]T, declared bool, items iter.Seq2[T, error]) error {
	var fresh []T
	if !declared {
		*list = nil
		return nil
	}
	for item, err := range items {
		if errors.Is(err, errMethodNotFound) {
			break // declared, and not there after all
		}
		if err != nil {
			return err
		}
		if len(fresh) == maxListed {
			return fmt.Errorf("the list has more than %d entries", maxListed)
		}
		fresh = append(fresh, item)
	}
	*list = fresh
	return nil
}
