package mcp

import (
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// InputRequiredResult tells a client of the stateless revision that the server
// needs something before it can answer. The client gets it and sends the request
// again with InputResponses and the same RequestState. Only tools/call,
// prompts/get and resources/read can have it.
//
// At least one of the two fields is set.
type InputRequiredResult struct {
	Result
	// InputRequests are what the server needs, by keys of its choice; nil means
	// nothing but another try.
	InputRequests map[string]InputRequest `json:"inputRequests,omitzero"`
	// RequestState is to be sent back with the next try as it is; nil means that
	// none is to be sent. It has passed through the client, so a server must not
	// trust it unless it has signed it.
	RequestState *string `json:"requestState,omitzero"`
}

// InputRequired returns a result that asks for input. The state is sent back by
// the client with its answers; "" means none.
func InputRequired(requests map[string]InputRequest, state string) *InputRequiredResult {
	r := &InputRequiredResult{InputRequests: requests}
	r.ResultType = ResultInputRequired
	if state != "" {
		r.RequestState = &state
	}
	return r
}

// InputRequest is one thing a server needs from a client. Method tells which
// other field is in use; ElicitInput, SamplingInput and RootsInput make one.
type InputRequest struct {
	// Method is MethodElicitationCreate, MethodSamplingCreateMessage,
	// MethodRootsList, or one that this package does not know.
	Method string
	// Elicit are the parameters of elicitation/create.
	Elicit *ElicitParams
	// Sampling are the parameters of sampling/createMessage.
	Sampling *CreateMessageParams
	// Roots are the parameters of roots/list; nil means none.
	Roots *EmptyParams
	// Raw are the parameters of an unknown method; nil means none.
	Raw json.RawMessage
}

// ElicitInput returns a request to ask the user.
func ElicitInput(params *ElicitParams) InputRequest {
	return InputRequest{Method: MethodElicitationCreate, Elicit: params}
}

// SamplingInput returns a request to use the client's model.
func SamplingInput(params *CreateMessageParams) InputRequest {
	return InputRequest{Method: MethodSamplingCreateMessage, Sampling: params}
}

// RootsInput returns a request for the client's roots. Its parameters are empty
// rather than missing, because there are clients that cannot read it without.
func RootsInput() InputRequest {
	return InputRequest{Method: MethodRootsList, Roots: &EmptyParams{}}
}

// Params returns the field that Method selects: the parameters to send when the
// same is asked as a request of its own. It returns nil when there are none.
func (r InputRequest) Params() any {
	switch {
	case r.Method == MethodElicitationCreate && r.Elicit != nil:
		return r.Elicit
	case r.Method == MethodSamplingCreateMessage && r.Sampling != nil:
		return r.Sampling
	case r.Method == MethodRootsList && r.Roots != nil:
		return r.Roots
	case r.Raw != nil:
		return r.Raw
	}
	return nil
}

// MarshalJSONTo writes the method and the parameters it selects.
func (r InputRequest) MarshalJSONTo(enc *jsontext.Encoder) error {
	w := beginObject(enc)
	w.string("method", r.Method)
	if params := r.Params(); params != nil {
		w.value("params", params)
	}
	return w.end()
}

// MarshalJSON is MarshalJSONTo for encoding/json.
func (r InputRequest) MarshalJSON() ([]byte, error) { return marshal(r) }

// UnmarshalJSONFrom reads a request; parameters of an unknown method go to Raw.
func (r *InputRequest) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var w struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if err := decode(dec, &w); err != nil {
		return err
	}
	dropNull(&w.Params)
	*r = InputRequest{Method: w.Method}
	if w.Params == nil {
		return nil
	}
	switch w.Method {
	case MethodElicitationCreate:
		return decodeValue(dec, jsontext.Value(w.Params), &r.Elicit)
	case MethodSamplingCreateMessage:
		return decodeValue(dec, jsontext.Value(w.Params), &r.Sampling)
	case MethodRootsList:
		return decodeValue(dec, jsontext.Value(w.Params), &r.Roots)
	default:
		r.Raw = w.Params
		return nil
	}
}

// UnmarshalJSON is UnmarshalJSONFrom for encoding/json.
func (r *InputRequest) UnmarshalJSON(data []byte) error { return unmarshal(data, r) }

// InputResponses are the answers to input requests, by the same keys. Each is a
// bare ElicitResult, CreateMessageResult or ListRootsResult; only the request
// tells which.
type InputResponses map[string]json.RawMessage

// Get decodes the answer under key into v and reports whether there is one.
func (r InputResponses) Get(key string, v any) (bool, error) {
	return getMember(r, key, v)
}

// Set encodes v as the answer under key, making the map if there is none.
func (r *InputResponses) Set(key string, v any) error {
	if *r == nil {
		*r = make(InputResponses, 1)
	}
	return setMember(*r, key, v)
}
