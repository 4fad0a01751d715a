package mcp

import (
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	ijson "github.com/ferrymcp/ferry/internal/json"
)

// The types of content block.
const (
	// TypeText is plain text, in Content.Text.
	TypeText = "text"
	// TypeImage is an image, in Content.Data and Content.MIMEType.
	TypeImage = "image"
	// TypeAudio is sound, in Content.Data and Content.MIMEType. The oldest
	// revision does not have it.
	TypeAudio = "audio"
	// TypeResource is a resource with its contents, in Content.Resource.
	TypeResource = "resource"
	// TypeResourceLink names a resource without its contents, in Content.Link.
	// Older revisions do not have it.
	TypeResourceLink = "resource_link"
	// TypeToolUse is a model's wish to call a tool, in Content.ToolUse. Only
	// sampling has it.
	TypeToolUse = "tool_use"
	// TypeToolResult is what a tool call of a model gave, in
	// Content.ToolResult. Only sampling has it.
	TypeToolResult = "tool_result"
)

// Content is one block of what a tool, a prompt or a model says. Type tells
// which of the other fields are in use; Text, Image, Audio, Embed and Link make
// the common ones.
//
// A block of a type that this package does not know is kept in Raw and written
// back as it came. Encoding a block without a type, or one whose type needs a
// field that is nil, is an error.
type Content struct {
	// Type is one of the Type constants, or a type this package does not know.
	Type string
	// Text is the text of a text block.
	Text string
	// Data holds the bytes of an image or audio block; they cross the wire as
	// base64.
	Data []byte
	// MIMEType tells what Data is.
	MIMEType string
	// Resource is what a resource block embeds.
	Resource *ResourceContents
	// Link is the resource that a link names. It carries the annotations and
	// the metadata of the block.
	Link *Resource
	// ToolUse is the call in a tool_use block.
	ToolUse *ToolUse
	// ToolResult is the outcome in a tool_result block.
	ToolResult *ToolResult
	// Annotations are hints for the client; nil means none. A link that has
	// none of its own is written with these.
	Annotations *Annotations
	// Meta is the metadata of the block; nil means none. A link that has none
	// of its own is written with this.
	Meta Meta
	// Raw is the whole block when its type is not known where it stands, and nil
	// otherwise. If it is set, it is what is written.
	Raw json.RawMessage
}

// ToolUse is a model's wish to call a tool.
type ToolUse struct {
	// ID is how the result refers to this call.
	ID string
	// Name is the tool to call.
	Name string
	// Input holds the arguments, a JSON object; nil is written as {}.
	Input json.RawMessage
}

// ToolResult is what a tool call of a model gave.
type ToolResult struct {
	// ToolUseID is the ID of the call this answers.
	ToolUseID string
	// Content is the output; nil is written as [].
	Content []Content
	// StructuredContent is the output as JSON; nil means none, and null is a
	// value.
	StructuredContent json.RawMessage
	// IsError tells that the tool failed.
	IsError bool
}

// Text returns a text block.
func Text(s string) Content { return Content{Type: TypeText, Text: s} }

// Image returns an image block with the given bytes and MIME type.
func Image(data []byte, mimeType string) Content {
	return Content{Type: TypeImage, Data: data, MIMEType: mimeType}
}

// Audio returns an audio block with the given bytes and MIME type.
func Audio(data []byte, mimeType string) Content {
	return Content{Type: TypeAudio, Data: data, MIMEType: mimeType}
}

// Embed returns a block that holds the contents of a resource.
func Embed(contents ResourceContents) Content {
	return Content{Type: TypeResource, Resource: &contents}
}

// Link returns a block that names a resource without its contents.
func Link(resource Resource) Content {
	return Content{Type: TypeResourceLink, Link: &resource}
}

// MarshalJSONTo writes the block straight into enc: large text and data are
// not copied on the way.
func (c Content) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := c.check(); err != nil {
		return err
	}
	switch {
	case c.Raw != nil:
		return enc.WriteValue(jsontext.Value(c.Raw))
	case c.Type == TypeResourceLink:
		return c.writeLink(enc)
	}
	w := beginObject(enc)
	w.string("type", c.Type)
	switch c.Type {
	case TypeText:
		w.string("text", c.Text)
	case TypeImage, TypeAudio:
		w.value("data", c.Data)
		w.string("mimeType", c.MIMEType)
	case TypeResource:
		w.value("resource", c.Resource)
	case TypeToolUse:
		w.string("id", c.ToolUse.ID)
		w.string("name", c.ToolUse.Name)
		w.raw("input", c.ToolUse.Input, "{}")
	case TypeToolResult:
		c.ToolResult.write(&w)
	}
	if c.Annotations != nil {
		w.value("annotations", c.Annotations)
	}
	if c.Meta != nil {
		w.value("_meta", c.Meta)
	}
	return w.end()
}

// MarshalJSON is MarshalJSONTo for encoding/json.
func (c Content) MarshalJSON() ([]byte, error) { return marshal(c) }

// check reports what keeps the block from being written.
func (c *Content) check() error {
	if c.Raw != nil {
		return nil
	}
	missing := false
	switch c.Type {
	case TypeText, TypeImage, TypeAudio:
	case TypeResource:
		missing = c.Resource == nil
	case TypeResourceLink:
		missing = c.Link == nil
	case TypeToolUse:
		missing = c.ToolUse == nil
	case TypeToolResult:
		missing = c.ToolResult == nil
	default:
		missing = true
	}
	if missing {
		return fmt.Errorf("content block of type %q has nothing to write", c.Type)
	}
	return nil
}

// linkWire is the wire form of a resource link: a resource with a type.
type linkWire struct {
	Type string `json:"type"`
	Resource
}

func (c *Content) writeLink(enc *jsontext.Encoder) error {
	link := &linkWire{Type: c.Type, Resource: *c.Link}
	if link.Annotations == nil {
		link.Annotations = c.Annotations
	}
	if link.Meta == nil {
		link.Meta = c.Meta
	}
	return encode(enc, link)
}

func (r *ToolResult) write(w *objectWriter) {
	w.string("toolUseId", r.ToolUseID)
	w.value("content", r.Content)
	if r.StructuredContent != nil {
		w.raw("structuredContent", r.StructuredContent, "null")
	}
	if r.IsError {
		w.bool("isError", true)
	}
}

// UnmarshalJSONFrom reads a block. A block of unknown type is kept in Raw.
func (c *Content) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return c.read(dec, knownBlock)
}

// UnmarshalJSON is UnmarshalJSONFrom for encoding/json.
func (c *Content) UnmarshalJSON(data []byte) error { return unmarshal(data, c) }

// knownBlock reports whether blocks of this type have fields in Content.
func knownBlock(typ string) bool {
	switch typ {
	case TypeText, TypeImage, TypeAudio, TypeResource, TypeResourceLink, TypeToolUse, TypeToolResult:
		return true
	}
	return false
}

// plainBlock is knownBlock for the inside of a tool result, where a model's
// calls and their results do not belong. Leaving them raw there also keeps a
// peer from nesting results without end.
func plainBlock(typ string) bool {
	return knownBlock(typ) && typ != TypeToolUse && typ != TypeToolResult
}

// read decodes the next value, keeping a block raw unless known reports true.
// The type may come after the members whose meaning it decides, so the value is
// located first; it is not copied.
func (c *Content) read(dec *jsontext.Decoder, known func(string) bool) error {
	*c = Content{}
	if dec.PeekKind() != '{' {
		return wrongKind(dec, "content block")
	}
	block, err := dec.ReadValue()
	if err != nil {
		return err
	}
	typ, _ := ijson.Member(block, "type")
	if typ != nil && typ[0] == '"' {
		if err := decodeValue(dec, jsontext.Value(typ), &c.Type); err != nil {
			return err
		}
	}
	if !known(c.Type) {
		c.Raw = json.RawMessage(block.Clone())
		return nil
	}
	return c.readKnown(dec, block)
}

func (c *Content) readKnown(dec *jsontext.Decoder, block jsontext.Value) error {
	switch c.Type {
	case TypeResourceLink:
		c.Link = new(Resource)
		return decodeValue(dec, block, c.Link)
	case TypeToolUse:
		return c.readToolUse(dec, block)
	case TypeToolResult:
		return c.readToolResult(dec, block)
	case TypeResource:
		var w struct {
			Resource    *ResourceContents `json:"resource"`
			Annotations *Annotations      `json:"annotations"`
			Meta        Meta              `json:"_meta"`
		}
		if err := decodeValue(dec, block, &w); err != nil {
			return err
		}
		if w.Resource == nil {
			return fmt.Errorf("content block of type %q has no resource", c.Type)
		}
		c.Resource, c.Annotations, c.Meta = w.Resource, w.Annotations, w.Meta
		return nil
	default:
		var w struct {
			Text        string       `json:"text"`
			Data        []byte       `json:"data"`
			MIMEType    string       `json:"mimeType"`
			Annotations *Annotations `json:"annotations"`
			Meta        Meta         `json:"_meta"`
		}
		if err := decodeValue(dec, block, &w); err != nil {
			return err
		}
		c.Annotations, c.Meta = w.Annotations, w.Meta
		if c.Type == TypeText {
			c.Text = w.Text
		} else {
			c.Data, c.MIMEType = w.Data, w.MIMEType
		}
		return nil
	}
}

func (c *Content) readToolUse(dec *jsontext.Decoder, block jsontext.Value) error {
	var w struct {
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
		Meta  Meta            `json:"_meta"`
	}
	if err := decodeValue(dec, block, &w); err != nil {
		return err
	}
	dropNull(&w.Input)
	c.ToolUse, c.Meta = &ToolUse{ID: w.ID, Name: w.Name, Input: w.Input}, w.Meta
	return nil
}

// plainContent is a block inside a tool result.
type plainContent Content

func (c *plainContent) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return (*Content)(c).read(dec, plainBlock)
}

func (c *Content) readToolResult(dec *jsontext.Decoder, block jsontext.Value) error {
	var w struct {
		ToolUseID         string          `json:"toolUseId"`
		Content           []plainContent  `json:"content"`
		StructuredContent json.RawMessage `json:"structuredContent"`
		IsError           bool            `json:"isError"`
		Meta              Meta            `json:"_meta"`
	}
	if err := decodeValue(dec, block, &w); err != nil {
		return err
	}
	c.Meta = w.Meta
	c.ToolResult = &ToolResult{ToolUseID: w.ToolUseID, StructuredContent: w.StructuredContent, IsError: w.IsError}
	for _, inner := range w.Content {
		c.ToolResult.Content = append(c.ToolResult.Content, Content(inner))
	}
	return nil
}
