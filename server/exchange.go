package server

import (
	"context"
	"encoding/json"
	"sync"

	ijson "github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
)

// An exchange is the caller of one stateless request, as the request's own
// metadata describes it. Nothing of it outlives the request.
type exchange struct {
	rev *revision.Revision
	who *identity
	// level is empty when the request asked for no log messages.
	level mcp.LoggingLevel
	logs  logGate
}

func (x *exchange) revision() *revision.Revision         { return x.rev }
func (x *exchange) client() mcp.Implementation           { return x.who.info }
func (x *exchange) capabilities() mcp.ClientCapabilities { return x.who.capabilities }

func (x *exchange) logGate() *logGate { return &x.logs }

func (x *exchange) logLevel() (mcp.LoggingLevel, bool) { return x.level, x.level != "" }

// Supported returns the error to answer with when the revision that the
// request names is not one that requests can name here.
func (rq *Request) Supported() *jsonrpc.Error {
	if rev, ok := revision.Parse(rq.ProtocolVersion); ok && rev.Modern() {
		return nil
	}
	return UnsupportedVersion(rq.ProtocolVersion)
}

// UnsupportedVersion returns the error that names the revisions a server
// speaks to a peer that asked for another one.
func UnsupportedVersion(requested string) *jsonrpc.Error {
	return (&mcp.UnsupportedVersionError{Supported: revision.Names(), Requested: requested}).RPCError()
}

// Serve handles a request that carries its own revision ([Request.Modern]).
// Related messages go to sink before Serve returns; the response is nil for a
// notification. Cancelling ctx cancels the request.
func (s *Server) Serve(ctx context.Context, rq *Request, sink Sink) *Response {
	return s.serve(ctx, &Call{Request: rq, srv: s, sink: sink})
}

// introduce finds out who calls, from what the request says.
func (c *Call) introduce() *jsonrpc.Error {
	if err := c.Supported(); err != nil {
		return err
	}
	x, err := c.srv.exchange(c.Request)
	if err != nil {
		return err
	}
	c.from = x
	return nil
}

func (s *Server) exchange(rq *Request) (*exchange, *jsonrpc.Error) {
	who, err := s.identities.of(rq.meta.clientInfo, rq.meta.capabilities)
	if err != nil {
		return nil, invalidParams("params._meta: %v", err)
	}
	x := &exchange{who: who}
	x.rev, _ = revision.Parse(rq.ProtocolVersion)
	if rq.meta.logLevel != nil {
		if err := ijson.Unmarshal(rq.meta.logLevel, &x.level); err != nil || !x.level.Valid() {
			return nil, invalidParams("params._meta[%q] is not a log level", mcp.MetaLogLevel)
		}
	}
	return x, nil
}

// An identity is who a client says it is and what it says it can do.
type identity struct {
	info         mcp.Implementation
	capabilities mcp.ClientCapabilities
}

// unknown is the identity of a client that has not introduced itself.
var unknown = &identity{}

// identities remembers decoded identities by their bytes: a client sends the
// same ones with every request. It is a cache, not state: forgetting is safe.
type identities struct {
	mu    sync.RWMutex
	known map[string]*identity
}

// maxIdentities bounds the cache; it is emptied when full.
const maxIdentities = 512

// maxIdentityBytes keeps unusual, large identities out of the cache.
const maxIdentityBytes = 4 << 10

func (ids *identities) of(info, capabilities json.RawMessage) (*identity, error) {
	var scratch [512]byte
	key := append(append(append(scratch[:0], info...), 0), capabilities...)
	ids.mu.RLock()
	who := ids.known[string(key)]
	ids.mu.RUnlock()
	if who != nil {
		return who, nil
	}
	who = new(identity)
	if len(info) > 0 {
		if err := ijson.Unmarshal(info, &who.info); err != nil {
			return nil, err
		}
	}
	if len(capabilities) > 0 {
		if err := ijson.Unmarshal(capabilities, &who.capabilities); err != nil {
			return nil, err
		}
	}
	if len(key) > maxIdentityBytes {
		return who, nil
	}
	ids.mu.Lock()
	defer ids.mu.Unlock()
	if ids.known == nil || len(ids.known) >= maxIdentities {
		ids.known = make(map[string]*identity)
	}
	ids.known[string(key)] = who
	return who, nil
}
