package gateway

import (
	"errors"
	"log/slog"
	"sync"

	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/server"
)

// maxVisits bounds the web pages that are remembered.
const maxVisits = 1024

// visits are the sessions whose users servers have sent to web pages, by
// elicitation id: only they are told when that is done.
type visits struct {
	mu   sync.Mutex
	open map[string]*server.Session // nil when several have the same id
}

// note remembers whose user is sent to a page.
func (v *visits) note(sess *server.Session, p *mcp.ElicitParams) {
	if sess == nil || p == nil || !p.IsURL() || p.ElicitationID == "" {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	other, known := v.open[p.ElicitationID]
	switch {
	case known && other != sess:
		v.open[p.ElicitationID] = nil // ids are unique at one server, not at several
		return
	case v.open == nil:
		v.open = map[string]*server.Session{}
	case len(v.open) >= maxVisits:
		for old := range v.open { // of a server that never says so
			delete(v.open, old)
			break
		}
	}
	v.open[p.ElicitationID] = sess
}

// noteError does the same for a call that failed because pages must be visited.
func (v *visits) noteError(sess *server.Session, err error) {
	if required, ok := errors.AsType[*mcp.URLElicitationRequiredError](err); ok {
		for i := range required.Elicitations {
			v.note(sess, &required.Elicitations[i])
		}
	}
}

// take returns who was sent to a page, nil if that is not known.
func (v *visits) take(id string) *server.Session {
	v.mu.Lock()
	defer v.mu.Unlock()
	sess := v.open[id]
	delete(v.open, id)
	return sess
}

// visited passes on that a user is done with a page.
func (g *Gateway) visited(_, id string) {
	if err := g.visits.take(id).ElicitationComplete(id); err != nil {
		g.log.Debug("completion of a page not passed on", slog.Any("error", err))
	}
}
