package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/mcp"
)

// Sample asks the client's model. See [Elicit] for the key and the errors.
//
// Messages may have several blocks; clients of older revisions get them one by
// one. Tools, and blocks about their use, need a client with the sampling.tools
// capability. IncludeContext is a wish, and left out for clients that have not
// declared that they know it. Of the result, any stop reason may come, and
// several calls of tools at once.
func Sample(ctx context.Context, c *Call, key string, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
	if p == nil {
		return nil, errors.New("ask the client's model: there are no parameters")
	}
	var result mcp.CreateMessageResult
	err := c.ask(ctx, key, mcp.SamplingInput(p), func(raw json.RawMessage) error {
		if err := ijson.Unmarshal(raw, &result); err != nil {
			return err
		}
		for _, name := range []string{"role", "content"} {
			if err := has(raw, name); err != nil {
				return err
			}
		}
		return result.Validate()
	})
	if err != nil {
		return nil, err
	}
	return &result, nil
}

// sampleToAsk returns parameters as this client's model may be asked with them.
func (c *Call) sampleToAsk(p *mcp.CreateMessageParams) (*mcp.CreateMessageParams, error) {
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("ask the client's model: %w", err)
	}
	if !c.from.revision().Has(revision.SamplingAudio) && usesAudio(p) {
		return nil, errors.New("ask the client's model: in the revision of this client messages cannot be sound")
	}
	return c.withContext(p), nil
}

// withContext leaves out what only clients that declare it should be asked for,
// where it is to be declared.
func (c *Call) withContext(p *mcp.CreateMessageParams) *mcp.CreateMessageParams {
	sampling := c.from.capabilities().Sampling
	declared := sampling != nil && sampling.Context != nil || !c.from.revision().Has(revision.SamplingTools)
	if declared || p.IncludeContext == "" || p.IncludeContext == mcp.IncludeContextNone {
		return p
	}
	without := *p
	without.IncludeContext = ""
	return &without
}

// usesTools reports whether the client must know of tools in sampling.
func usesTools(p *mcp.CreateMessageParams) bool {
	return p.Tools != nil || p.ToolChoice != nil ||
		hasBlock(p, func(b *mcp.Content) bool { return b.Type == mcp.TypeToolUse || b.Type == mcp.TypeToolResult })
}

func usesAudio(p *mcp.CreateMessageParams) bool {
	return hasBlock(p, func(b *mcp.Content) bool { return b.Type == mcp.TypeAudio })
}

// hasBlock reports whether a block of the messages is such a one.
func hasBlock(p *mcp.CreateMessageParams, such func(*mcp.Content) bool) bool {
	for i := range p.Messages {
		for j := range p.Messages[i].Content {
			if such(&p.Messages[i].Content[j]) {
				return true
			}
		}
	}
	return false
}
