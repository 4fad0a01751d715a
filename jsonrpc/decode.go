package jsonrpc

import (
	"fmt"
	"math"
	"strconv"

	"github.com/ferrymcp/ferry/internal/json"
)

// Limits bound what Decode accepts. A field that is zero has its default.
type Limits struct {
	// Depth is the number of nested arrays and objects, 512 by default: more
	// than schemas and documents use, and few enough that no reader's stack
	// suffers. It cannot be more than 10000.
	Depth int
	// Bytes is the length of a frame. There is no limit by default because
	// carriers limit what they read; no frame may have 4 GiB or more.
	Bytes int
	// Batch is the number of messages in a batch, 256 by default.
	Batch int
}

const (
	defaultDepth = 512
	maxDepth     = 10000
	defaultBatch = 256
)

// Decode reads one message under the default limits. See [Limits.Decode].
func Decode(frame []byte) (Message, error) { return Limits{}.Decode(frame) }

// Decode reads one message, which refers to frame afterwards.
//
// The error, if any, is an *Error that says what is wrong at which byte: with
// CodeParse when frame is not one JSON value under the rules of this package,
// with CodeInvalidRequest when the value is not a message. The message then
// has the id and the method, if they could be read, so that the error can be
// answered; and if frame was meant to be a response, its Error is the error
// returned, so that whoever waits for the response can have it.
func (l Limits) Decode(frame []byte) (Message, error) {
	var s scanner
	if err := l.start(&s, frame); err != nil {
		return Message{}, err
	}
	var env envelope
	start := s.space(0)
	isObject := s.peek(start) == '{'
	var end int
	if isObject {
		end = s.object(start, &env)
	} else {
		end = s.value(start)
	}
	if end >= 0 {
		if end = s.space(end); end < len(frame) {
			end = s.fail(end, "unexpected data after the message")
		}
	}
	if end < 0 {
		return env.broken(frame, Errorf(CodeParse, "parse error: %s", s.fault()))
	}
	if !isObject {
		return Message{}, notObject(frame, start)
	}
	return env.message(frame)
}

// start sets s, which is zero, to frame, if its size is within the limits.
func (l Limits) start(s *scanner, frame []byte) error {
	limit := l.Bytes
	if limit <= 0 || limit > math.MaxUint32 {
		limit = math.MaxUint32 // the table of names has 32 bits for a place
	}
	if len(frame) > limit {
		return Errorf(CodeInvalidRequest, "invalid request: message of %d bytes is longer than %d", len(frame), limit)
	}
	depth := l.Depth
	if depth <= 0 {
		depth = defaultDepth
	}
	s.data, s.maxDepth = frame, min(depth, maxDepth)
	return nil
}

func notObject(frame []byte, start int) error {
	if frame[start] == '[' {
		return invalid(start, "message must be an object, not a batch")
	}
	return invalid(start, "message must be an object")
}

func invalid(at int, text string) *Error {
	return Errorf(CodeInvalidRequest, "invalid request: %s at byte %d", text, at)
}

// A span is a part of the frame. The zero span is a member that is absent.
type span struct{ start, end int }

func (p span) in(frame []byte) []byte { return frame[p.start:p.end:p.end] }

func (p span) present() bool { return p.end > 0 }

// An envelope is where the members of a message are.
type envelope struct {
	version, id, method, params, result, err span
}

// member returns the place for the member with the given quoted name, or nil
// if JSON-RPC does not define it.
func (e *envelope) member(quoted []byte) *span {
	name, _ := json.Unquote(quoted)
	switch name {
	case "jsonrpc":
		return &e.version
	case "id":
		return &e.id
	case "method":
		return &e.method
	case "params":
		return &e.params
	case "result":
		return &e.result
	case "error":
		return &e.err
	}
	return nil
}

func (e *envelope) set(quoted []byte, value span) {
	if p := e.member(quoted); p != nil {
		*p = value
	}
}

// ambiguous forgets a member that occurs twice: neither value can be trusted.
func (e *envelope) ambiguous(quoted []byte) {
	if e != nil {
		e.set(quoted, span{})
	}
}

// broken returns what is known of a message that has a fault.
func (e *envelope) broken(frame []byte, fault *Error) (Message, error) {
	var m Message
	if id := e.id.in(frame); e.id.present() && checkID(id) == "" {
		m.ID = ID{json.Alias(id)}
	}
	if e.method.present() {
		m.Method, _ = json.Unquote(e.method.in(frame))
	} else if e.result.present() || e.err.present() {
		m.Error = fault
	}
	return m, fault
}

// message checks the envelope. All its parts are valid JSON.
func (e *envelope) message(frame []byte) (Message, error) {
	if fault := e.check(frame); fault != nil {
		return e.broken(frame, fault)
	}
	var m Message
	if e.id.present() && frame[e.id.start] != 'n' {
		m.ID = ID{json.Alias(e.id.in(frame))}
	}
	switch {
	case e.method.present():
		m.Method, _ = json.Unquote(e.method.in(frame))
		if e.params.present() && frame[e.params.start] != 'n' {
			m.Params = e.params.in(frame)
		}
	case e.result.present():
		m.Result = e.result.in(frame)
	default:
		wire, problem := readError(e.err.in(frame))
		if problem != "" {
			return e.broken(frame, invalid(e.err.start, problem))
		}
		m.Error = wire
	}
	return m, nil
}

// check finds what JSON-RPC does not allow, except inside the error member.
func (e *envelope) check(frame []byte) *Error {
	if !e.version.present() {
		return Errorf(CodeInvalidRequest, `invalid request: jsonrpc must be "2.0", and is missing`)
	}
	if v, _ := json.Unquote(e.version.in(frame)); v != "2.0" {
		return invalid(e.version.start, `jsonrpc must be "2.0"`)
	}
	if e.id.present() && frame[e.id.start] != 'n' {
		if problem := checkID(e.id.in(frame)); problem != "" {
			return invalid(e.id.start, problem)
		}
	}
	if e.method.present() {
		return e.checkRequest(frame)
	}
	return e.checkResponse(frame)
}

func (e *envelope) checkRequest(frame []byte) *Error {
	method, isString := json.Unquote(e.method.in(frame))
	switch {
	case !isString:
		return invalid(e.method.start, "method must be a string")
	case method == "":
		return invalid(e.method.start, "method must not be empty")
	case e.result.present():
		return invalid(e.result.start, "a message with a method must not have a result")
	case e.err.present():
		return invalid(e.err.start, "a message with a method must not have an error")
	case e.id.present() && frame[e.id.start] == 'n':
		return invalid(e.id.start, "id must not be null")
	}
	if e.params.present() {
		if c := frame[e.params.start]; c != '{' && c != '[' && c != 'n' {
			return invalid(e.params.start, "params must be an object or an array")
		}
	}
	return nil
}

func (e *envelope) checkResponse(frame []byte) *Error {
	switch {
	case e.result.present() && e.err.present():
		return invalid(e.err.start, "a response must not have both a result and an error")
	case e.err.present():
		return nil
	case !e.result.present():
		return Errorf(CodeInvalidRequest, "invalid request: message has no method, result or error")
	case !e.id.present():
		return invalid(e.result.start, "a response with a result must have an id")
	case frame[e.id.start] == 'n':
		return invalid(e.id.start, "id must not be null")
	}
	return nil
}

// readError reads the error member of a response and says what is wrong with
// it, or "". Members that JSON-RPC does not define are tolerated.
func readError(raw []byte) (e *Error, problem string) {
	if raw[0] != '{' {
		return nil, "error must be an object"
	}
	e = &Error{}
	var hasCode, hasMessage bool
	for name, value := range json.Members(raw) {
		switch name {
		case "code":
			code, err := strconv.Atoi(json.Alias(value))
			if err != nil {
				return nil, "error code must be an integer"
			}
			e.Code, hasCode = code, true
		case "message":
			if e.Message, hasMessage = json.Unquote(value); !hasMessage {
				return nil, "error message must be a string"
			}
		case "data":
			e.Data = value
		}
	}
	if !hasCode || !hasMessage {
		return nil, fmt.Sprintf("error has no %s", map[bool]string{true: "message", false: "code"}[hasCode])
	}
	return e, ""
}
