package mcp

import (
	"fmt"
	"strings"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/jsonrpc"
)

// The error codes that the protocol adds to those of JSON-RPC.
const (
	// CodeResourceNotFound is for resources/read of an unknown resource in older
	// revisions; the stateless revision uses jsonrpc.CodeInvalidParams.
	CodeResourceNotFound = -32002
	// CodeURLElicitationRequired is the code of a URLElicitationRequiredError.
	CodeURLElicitationRequired = -32042
	// CodeHeaderMismatch is the code of a HeaderMismatchError.
	CodeHeaderMismatch = -32020
	// CodeMissingClientCapability is the code of a MissingCapabilityError.
	CodeMissingClientCapability = -32021
	// CodeUnsupportedVersion is the code of an UnsupportedVersionError.
	CodeUnsupportedVersion = -32022
	// CodeUserRejected is what older revisions suggest when the user of a client
	// refuses a sampling request.
	CodeUserRejected = -1
)

// ResourceNotFoundError tells that there is no resource of that URI.
type ResourceNotFoundError struct {
	// URI is the resource that was asked for.
	URI string
}

// Error implements the error interface.
func (e *ResourceNotFoundError) Error() string { return fmt.Sprintf("resource not found: %s", e.URI) }

// RPCError returns the error for the wire. The code depends on the revision; see
// CodeResourceNotFound.
func (e *ResourceNotFoundError) RPCError(code int) *jsonrpc.Error {
	return rpcError(code, e.Error(), resourceNotFoundData{e.URI})
}

type resourceNotFoundData struct {
	URI string `json:"uri"`
}

// UnsupportedVersionError tells that a server does not speak the revision of a
// request. Only the stateless revision has it.
type UnsupportedVersionError struct {
	// Supported are the revisions that the server speaks.
	Supported []string
	// Requested is the revision of the request.
	Requested string
}

// Error implements the error interface.
func (e *UnsupportedVersionError) Error() string {
	return fmt.Sprintf("unsupported protocol version %q, supported: %s", e.Requested, strings.Join(e.Supported, ", "))
}

// RPCError returns the error for the wire.
func (e *UnsupportedVersionError) RPCError() *jsonrpc.Error {
	return rpcError(CodeUnsupportedVersion, e.Error(), unsupportedVersionData{e.Supported, e.Requested})
}

type unsupportedVersionData struct {
	Supported []string `json:"supported"`
	Requested string   `json:"requested"`
}

// MissingCapabilityError tells that a request needs capabilities that the client
// has not declared. Only the stateless revision has it.
type MissingCapabilityError struct {
	// Required are the capabilities that the request needs.
	Required ClientCapabilities
}

// Error implements the error interface.
func (e *MissingCapabilityError) Error() string {
	var names []string
	for _, f := range e.Required.fields() {
		if f.set {
			names = append(names, f.name)
		}
	}
	return "client lacks a required capability: " + strings.Join(names, ", ")
}

// RPCError returns the error for the wire.
func (e *MissingCapabilityError) RPCError() *jsonrpc.Error {
	return rpcError(CodeMissingClientCapability, e.Error(), missingCapabilityData{e.Required})
}

type missingCapabilityData struct {
	RequiredCapabilities ClientCapabilities `json:"requiredCapabilities"`
}

// HeaderMismatchError tells that the headers of an HTTP request do not agree
// with its body. Only the stateless revision has it.
type HeaderMismatchError struct {
	// Message tells what disagrees.
	Message string
}

// Error implements the error interface.
func (e *HeaderMismatchError) Error() string { return "header mismatch: " + e.Message }

// RPCError returns the error for the wire.
func (e *HeaderMismatchError) RPCError() *jsonrpc.Error {
	return rpcError(CodeHeaderMismatch, e.Error(), nil)
}

// URLElicitationRequiredError tells that the user must visit web pages before
// the request can succeed. Only the revision with core tasks has it; the
// stateless revision has InputRequiredResult instead.
type URLElicitationRequiredError struct {
	// Elicitations are the pages to visit, each in URL mode.
	Elicitations []ElicitParams
}

// Error implements the error interface.
func (e *URLElicitationRequiredError) Error() string { return "the user must visit a web page first" }

// RPCError returns the error for the wire.
func (e *URLElicitationRequiredError) RPCError() *jsonrpc.Error {
	return rpcError(CodeURLElicitationRequired, e.Error(), urlElicitationRequiredData{e.Elicitations})
}

type urlElicitationRequiredData struct {
	Elicitations []ElicitParams `json:"elicitations"`
}

// rpcError builds an error whose data is one of the structs above. Data that
// cannot be encoded is left out: an error must always reach the peer.
func rpcError(code int, message string, data any) *jsonrpc.Error {
	e := &jsonrpc.Error{Code: code, Message: message}
	if data == nil {
		return e
	}
	if raw, err := json.Marshal(data); err == nil {
		e.Data = raw
	}
	return e
}

// TypedError returns the error of this package that an error from the wire
// stands for, or e itself when there is none or when its data does not fit.
// The code for an unknown resource is only recognized in its older form, since
// the newer one has many meanings.
func TypedError(e *jsonrpc.Error) error {
	switch e.Code {
	case CodeResourceNotFound:
		var data resourceNotFoundData
		if decodeErrorData(e, &data) {
			return &ResourceNotFoundError{URI: data.URI}
		}
	case CodeUnsupportedVersion:
		var data unsupportedVersionData
		if decodeErrorData(e, &data) {
			return &UnsupportedVersionError{Supported: data.Supported, Requested: data.Requested}
		}
	case CodeMissingClientCapability:
		var data missingCapabilityData
		if decodeErrorData(e, &data) {
			return &MissingCapabilityError{Required: data.RequiredCapabilities}
		}
	case CodeHeaderMismatch:
		return &HeaderMismatchError{Message: strings.TrimPrefix(e.Message, "header mismatch: ")}
	case CodeURLElicitationRequired:
		var data urlElicitationRequiredData
		if decodeErrorData(e, &data) {
			return &URLElicitationRequiredError{Elicitations: data.Elicitations}
		}
	}
	return e
}

func decodeErrorData(e *jsonrpc.Error, data any) bool {
	return e.Data != nil && json.Unmarshal(e.Data, data) == nil
}
