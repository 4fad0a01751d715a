package mcp

import (
	"github.com/go-json-experiment/json/jsontext"
)

// Resource describes something a server lets clients read.
type Resource struct {
	// URI identifies the resource; the server decides what it means.
	URI string `json:"uri"`
	// Name is its name. Older revisions show it to people, newer ones use
	// Title for that.
	Name string `json:"name"`
	// Title is the name to show to people. Older revisions do not have it.
	Title string `json:"title,omitzero"`
	// Description tells a model what the resource is.
	Description string `json:"description,omitzero"`
	// MIMEType is the type of the contents, when it is known.
	MIMEType string `json:"mimeType,omitzero"`
	// Size is the size of the contents in bytes before any encoding; nil means
	// unknown.
	Size *int64 `json:"size,omitzero"`
	// Icons are pictures for the resource. Older revisions do not have them.
	Icons []Icon `json:"icons,omitzero"`
	// Annotations are hints for the client; nil means none.
	Annotations *Annotations `json:"annotations,omitzero"`
	// Meta is the metadata of the resource; nil means none.
	Meta Meta `json:"_meta,omitzero"`
}

// ResourceTemplate describes a family of resources by a URI template.
type ResourceTemplate struct {
	// URITemplate is a template as RFC 6570 defines it.
	URITemplate string `json:"uriTemplate"`
	// Name is the name of the template.
	Name string `json:"name"`
	// Title is the name to show to people. Older revisions do not have it.
	Title string `json:"title,omitzero"`
	// Description tells a model what the resources are.
	Description string `json:"description,omitzero"`
	// MIMEType is the type of the contents, when all resources share one.
	MIMEType string `json:"mimeType,omitzero"`
	// Icons are pictures for the template. Older revisions do not have them.
	Icons []Icon `json:"icons,omitzero"`
	// Annotations are hints for the client; nil means none.
	Annotations *Annotations `json:"annotations,omitzero"`
	// Meta is the metadata of the template; nil means none.
	Meta Meta `json:"_meta,omitzero"`
}

// ResourceContents is what a resource holds: text or bytes. A non-nil Blob, be
// it empty, means bytes; otherwise the contents are Text, be it "".
type ResourceContents struct {
	// URI is the resource these are the contents of.
	URI string
	// MIMEType is the type of the contents, when it is known.
	MIMEType string
	// Text is the contents of a textual resource.
	Text string
	// Blob is the contents of any other resource; nil means that the contents
	// are Text. It crosses the wire as base64.
	Blob []byte
	// Meta is the metadata of the contents; nil means none.
	Meta Meta
}

// TextResource returns contents that are text.
func TextResource(uri, mimeType, text string) ResourceContents {
	return ResourceContents{URI: uri, MIMEType: mimeType, Text: text}
}

// BlobResource returns contents that are bytes.
func BlobResource(uri, mimeType string, blob []byte) ResourceContents {
	if blob == nil {
		blob = []byte{}
	}
	return ResourceContents{URI: uri, MIMEType: mimeType, Blob: blob}
}

// MarshalJSONTo writes the contents straight into enc.
func (r ResourceContents) MarshalJSONTo(enc *jsontext.Encoder) error {
	w := beginObject(enc)
	w.string("uri", r.URI)
	if r.MIMEType != "" {
		w.string("mimeType", r.MIMEType)
	}
	if r.Blob != nil {
		w.value("blob", r.Blob)
	} else {
		w.string("text", r.Text)
	}
	if r.Meta != nil {
		w.value("_meta", r.Meta)
	}
	return w.end()
}

// MarshalJSON is MarshalJSONTo for encoding/json.
func (r ResourceContents) MarshalJSON() ([]byte, error) { return marshal(r) }

// UnmarshalJSONFrom reads contents; whether they are bytes is decided by the
// presence of blob, not by what it holds.
func (r *ResourceContents) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var w struct {
		URI      string  `json:"uri"`
		MIMEType string  `json:"mimeType"`
		Text     string  `json:"text"`
		Blob     *[]byte `json:"blob"`
		Meta     Meta    `json:"_meta"`
	}
	if err := decode(dec, &w); err != nil {
		return err
	}
	*r = ResourceContents{URI: w.URI, MIMEType: w.MIMEType, Text: w.Text, Meta: w.Meta}
	if w.Blob != nil {
		r.Text, r.Blob = "", *w.Blob
		if r.Blob == nil {
			r.Blob = []byte{}
		}
	}
	return nil
}

// UnmarshalJSON is UnmarshalJSONFrom for encoding/json.
func (r *ResourceContents) UnmarshalJSON(data []byte) error { return unmarshal(data, r) }

// ListResourcesParams are the parameters of resources/list.
type ListResourcesParams = PageParams

// ListResourcesResult is the result of resources/list.
type ListResourcesResult struct {
	Result
	Cache
	// Resources is one page of resources; nil is written as [].
	Resources []Resource `json:"resources"`
	// NextCursor asks for the next page; nil means that this is the last one.
	NextCursor *string `json:"nextCursor,omitzero"`
}

// ListResourceTemplatesParams are the parameters of resources/templates/list.
type ListResourceTemplatesParams = PageParams

// ListResourceTemplatesResult is the result of resources/templates/list.
type ListResourceTemplatesResult struct {
	Result
	Cache
	// ResourceTemplates is one page of templates; nil is written as [].
	ResourceTemplates []ResourceTemplate `json:"resourceTemplates"`
	// NextCursor asks for the next page; nil means that this is the last one.
	NextCursor *string `json:"nextCursor,omitzero"`
}

// ReadResourceParams are the parameters of resources/read.
type ReadResourceParams struct {
	// Meta is the metadata of the request; nil means none.
	Meta Meta `json:"_meta,omitzero"`
	// URI is the resource to read.
	URI string `json:"uri"`
	// InputResponses answer the input requests of an earlier try. Only the
	// stateless revision has them; nil means none.
	InputResponses InputResponses `json:"inputResponses,omitzero"`
	// RequestState is what the server gave with an earlier try; nil means that
	// it gave none.
	RequestState *string `json:"requestState,omitzero"`
}

// ReadResourceResult is the result of resources/read.
type ReadResourceResult struct {
	Result
	Cache
	// Contents is what was read, more than one for a resource made of several;
	// nil is written as [].
	Contents []ResourceContents `json:"contents"`
}

// SubscribeParams are the parameters of resources/subscribe and
// resources/unsubscribe, which only older revisions have.
type SubscribeParams struct {
	// Meta is the metadata of the request; nil means none.
	Meta Meta `json:"_meta,omitzero"`
	// URI is the resource to watch, or to stop watching.
	URI string `json:"uri"`
}

// ResourceUpdatedParams are the parameters of notifications/resources/updated.
type ResourceUpdatedParams struct {
	// Meta is the metadata of the notification; nil means none.
	Meta Meta `json:"_meta,omitzero"`
	// URI is the resource that changed. It may lie below the one subscribed to.
	URI string `json:"uri"`
}
