package client

import (
	"slices"
	"strconv"

	"github.com/ferrymcp/ferry/internal/json"
	"github.com/ferrymcp/ferry/internal/revision"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// A verdict is what the answer to server/discover says about how to go on.
type verdict struct {
	next     next
	rev      *revision.Revision  // for all but fail
	discover *mcp.DiscoverResult // may be nil: the server is known to be stateless, not what it is
	err      error               // for fail: why; for legacy: what the server said instead, or nil
}

type next uint8

const (
	nextModern  next = iota // speak rev statelessly
	nextAsk                 // ask again with rev
	nextLegacy              // initialize with rev
	nextRestart             // the same, but the server has exited on the question
	nextFail
)

// The two classifiers differ on purpose. -32601 means an older server on stdio,
// where every stateless server must know the method, and with status 404 a
// stateless one over HTTP, where only those answer like that.

// classifyDuplex judges an answer that came over stdio or the like, where the
// only evidence is the message itself.
func classifyDuplex(asked *revision.Revision, resp transport.Response) verdict {
	if resp.Error == nil {
		d := new(mcp.DiscoverResult)
		if err := decodeResult(mcp.MethodServerDiscover, resp.Result, d, "supportedVersions"); err != nil {
			// Some servers answer anything with some result.
			return verdict{next: nextLegacy, rev: revision.NewestLegacy(), err: err}
		}
		return agree(asked, d.SupportedVersions, d, nil)
	}
	if modernCode(resp.Error.Code) {
		return modernError(asked, resp.Error)
	}
	return verdict{next: nextLegacy, rev: revision.NewestLegacy(), err: resp.Error}
}

// classifyHTTP judges an answer by its status and its message.
func classifyHTTP(asked *revision.Revision, resp transport.Response) verdict {
	status := resp.Status
	switch {
	case status >= 200 && status < 300:
		return classifyDuplex(asked, resp)
	case status == 401 || status == 403 || status < 400 || status >= 500:
		// No evidence: this comes from whatever stands before the server, or from
		// a server of any revision.
		return verdict{next: nextFail, err: refused(resp)}
	case resp.Error != nil && modernCode(resp.Error.Code):
		return modernError(asked, resp.Error)
	case status == 404 && resp.Error != nil && resp.Error.Code == jsonrpc.CodeMethodNotFound:
		return verdict{next: nextModern, rev: asked}
	default:
		return verdict{next: nextLegacy, rev: revision.NewestLegacy(), err: refused(resp)}
	}
}

func modernCode(code int) bool {
	return code == mcp.CodeUnsupportedVersion || code == mcp.CodeMissingClientCapability || code == mcp.CodeHeaderMismatch
}

// modernError judges an error that only servers of stateless revisions send.
func modernError(asked *revision.Revision, e *jsonrpc.Error) verdict {
	if supported := supportedVersions(e); len(supported) > 0 {
		return agree(asked, supported, nil, e)
	}
	if e.Code == mcp.CodeUnsupportedVersion {
		return verdict{next: nextFail, err: versionError(asked, e)}
	}
	// The server is not an older one, and asking in another way will not help.
	return verdict{next: nextFail, err: e}
}

// agree picks the revision to speak from those that the server supports.
func agree(asked *revision.Revision, supported []string, d *mcp.DiscoverResult, e *jsonrpc.Error) verdict {
	stateless, session := mutual(supported)
	switch {
	case stateless != nil && d != nil:
		return verdict{next: nextModern, rev: stateless, discover: d}
	case stateless != nil:
		// Also a server that refuses what it says it supports is asked again: it
		// may have come up just now.
		refused := &VersionError{Requested: asked.Name(), Supported: supported, Err: e}
		return verdict{next: nextAsk, rev: stateless, err: refused}
	case session != nil && stateless == nil:
		v := verdict{next: nextLegacy, rev: session, discover: d}
		if e != nil {
			v.err = e
		}
		return v
	default:
		return verdict{next: nextFail, err: &VersionError{Requested: asked.Name(), Supported: supported, Err: e}}
	}
}

// mutual returns the newest revision of either kind that both sides speak, nil
// when there is none.
func mutual(supported []string) (stateless, session *revision.Revision) {
	for _, rev := range revision.All() {
		switch {
		case !slices.Contains(supported, rev.Name()):
		case rev.Modern():
			stateless = rev
		default:
			session = rev
		}
	}
	return stateless, session
}

// supportedVersions returns the revisions that an error says the server
// supports. Servers put them under the same name in all their errors about it.
func supportedVersions(e *jsonrpc.Error) []string {
	var data struct {
		Supported []string `json:"supported"`
	}
	if len(e.Data) == 0 || json.Unmarshal(e.Data, &data) != nil {
		return nil
	}
	return data.Supported
}

func versionError(asked *revision.Revision, e *jsonrpc.Error) *VersionError {
	return &VersionError{Requested: asked.Name(), Supported: supportedVersions(e), Err: e}
}

// refused is the error of an HTTP answer that a status says no with.
func refused(resp transport.Response) error {
	if resp.Error != nil {
		return resp.Error
	}
	return &UnreachableError{Method: mcp.MethodServerDiscover, Err: statusError(resp.Status)}
}

// An httpError is a carrier's error for an HTTP answer without a message.
type httpError interface {
	error
	HTTPStatus() int
}

// A statusError is the same of a carrier that gives a response of nothing but a
// status.
type statusError int

func (e statusError) Error() string { return "HTTP status " + strconv.Itoa(int(e)) }

func (e statusError) HTTPStatus() int { return int(e) }
