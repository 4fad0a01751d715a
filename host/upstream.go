package host

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/httpclient"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/transport"
)

// An Upstream is a server to connect to. [Stdio] and [HTTP] make the usual ones.
type Upstream struct {
	// Name tells servers apart, for people and in errors.
	Name string
	// Transport reaches the server. It is opened again after each loss.
	Transport transport.Transport
	// Prefix stands before the names of tools and prompts; nil means Name, and
	// an empty one that names are shown as they are.
	Prefix *string
	// Timeout bounds one call. 0 means one minute; progress starts it anew.
	Timeout time.Duration
	// Show chooses tools by their own names; nil shows all.
	Show func(tool string) bool
}

// Stdio is a server that runs as a child process.
func Stdio(name, path string, args ...string) Upstream {
	return Upstream{Name: name, Transport: &transport.Command{Path: path, Args: args}}
}

// HTTP is a server at a URL. Options may be nil.
func HTTP(name, url string, opts *httpclient.Options) Upstream {
	return Upstream{Name: name, Transport: httpclient.New(url, opts)}
}

// A State says how a server is doing.
type State string

// The states. A server is Connecting while an attempt is made, Failed between
// attempts, and Stopped after Close.
const (
	Connecting State = "connecting"
	Ready      State = "ready"
	Failed     State = "failed"
	Stopped    State = "stopped"
)

// UpstreamStatus is how one server is doing.
type UpstreamStatus struct {
	Name  string
	State State
	// Err is why the last attempt or connection failed; nil when ready.
	Err error
	// Since is when the server came into this state.
	Since time.Time
	// Attempts counts the attempts to connect since the server was last ready.
	Attempts int
	// Server and Revision are what the server said last; empty before that.
	Server   mcp.Implementation
	Revision string
	// The numbers of what the server offers; 0 unless it is ready.
	Tools, Prompts, Resources, Templates int
}

// An upstream is one server with the goroutine that keeps it connected.
type upstream struct {
	host    *Host
	conf    Upstream
	prefix  string
	client  *client.Client
	log     *slog.Logger
	settle  sync.Once
	settled chan struct{} // closed after the first attempt to connect
	wake    chan struct{} // of size 1: there is something pending
	retell  chan struct{} // of size 1: other resources are watched

	// The fields below are guarded by host.mu.

	state    State
	err      error
	since    time.Time
	attempts int
	server   mcp.Implementation
	revision string
	session  *client.Session // nil unless ready
	lists    lists           // kept after a loss, so that names stay reserved
	pending  kind            // lists to be read again
	suspect  bool            // a call did not reach the server
	watched  map[string]bool // subscribed resources, by URI
	telling  *telling        // the next; nil when the server knows of all of them
}

func newUpstream(h *Host, conf Upstream) *upstream {
	u := &upstream{
		host:    h,
		conf:    conf,
		prefix:  conf.Name,
		log:     h.log.With(slog.String("server", conf.Name)),
		settled: make(chan struct{}),
		wake:    make(chan struct{}, 1),
		retell:  make(chan struct{}, 1),
		state:   Connecting,
		since:   time.Now(),
		watched: map[string]bool{},
	}
	if conf.Prefix != nil {
		u.prefix = *conf.Prefix
	}
	u.client = client.New(h.info, &client.Options{
		Capabilities:   h.opts.Capabilities,
		Timeout:        conf.Timeout,
		ConnectTimeout: h.opts.ConnectTimeout,
		ProbeTimeout:   h.opts.ConnectTimeout / 2, // it may be downloaded first, and nobody waits
		Logger:         u.log,
		OnNotification: u.notified,
	})
	return u
}

func (u *upstream) statusLocked() UpstreamStatus {
	s := UpstreamStatus{
		Name: u.conf.Name, State: u.state, Err: u.err, Since: u.since,
		Attempts: u.attempts, Server: u.server, Revision: u.revision,
	}
	if u.state == Ready {
		s.Tools, s.Prompts = len(u.lists.tools), len(u.lists.prompts)
		s.Resources, s.Templates = len(u.lists.resources), len(u.lists.templates)
	}
	return s
}

// enterLocked changes the state.
func (u *upstream) enterLocked(state State, err error) {
	if u.state != state {
		u.since = time.Now()
	}
	u.state, u.err = state, err
}

// run keeps the server connected until ctx ends.
func (u *upstream) run(ctx context.Context) {
	pause := newBackoff(&u.host.opts)
	said := "" // a server that stays down for the same reason is told of once
	for ctx.Err() == nil {
		u.host.update(func() {
			u.attempts++
			u.enterLocked(Connecting, u.err)
		})
		err := u.connect(ctx, pause)
		if ctx.Err() != nil {
			break
		}
		if text := err.Error(); text != said {
			u.log.Warn("server is not reachable, trying again", slog.String("error", text))
			said = text
		}
		pause.wait(ctx)
	}
	u.host.update(func() { u.enterLocked(Stopped, nil) })
	u.settle.Do(func() { close(u.settled) })
}

// lose takes the server's features out of the catalog and says why.
func (u *upstream) lose(err error) {
	u.host.update(func() {
		u.session, u.suspect, u.pending = nil, false, 0
		u.enterLocked(Failed, err)
	})
	u.settle.Do(func() { close(u.settled) })
}

// connect makes one connection and stays with it until it is lost. The error
// says why it was.
func (u *upstream) connect(ctx context.Context, pause *backoff) error {
	sess, err := u.client.Connect(ctx, u.conf.Transport)
	if err != nil {
		u.lose(err)
		return err
	}
	defer func() {
		if err := sess.Close(); err != nil {
			u.log.Debug("close connection", slog.Any("error", err))
		}
	}()
	began := time.Now()
	err = u.stay(ctx, sess)
	// Only a connection that has lasted shows that the server is well.
	if time.Since(began) > u.host.opts.MaxRetry {
		pause.reset()
	}
	// Told before the close, which may take a moment.
	u.lose(err)
	return err
}

// stay reads the lists of a connected server, and again when they change, until
// the connection is lost or ctx ends.
func (u *upstream) stay(ctx context.Context, sess *client.Session) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup // what follows the lists and the resources
	defer wg.Wait()
	defer cancel()
	f := u.newFollower(sess)
	wg.Go(func() { f.run(ctx) })
	f.awaitFirst(ctx)
	u.join(ctx, sess)
	wg.Go(func() { u.watch(ctx, sess) })

	ping := newTicker(u.host.opts.Ping)
	defer ping.stop()
	again := newBackoff(&u.host.opts)
	for {
		select {
		case <-sess.Done():
			return sess.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-u.wake:
		case <-again.due():
		case <-ping.due():
			u.doubt()
		}
		if err := u.attend(ctx, sess, again); err != nil {
			return err
		}
	}
}

// attend does what there is to do for a server that is connected. The error says
// that it is so no more.
func (u *upstream) attend(ctx context.Context, sess *client.Session, again *backoff) error {
	u.host.mu.Lock()
	suspect := u.suspect
	u.suspect = false
	u.host.mu.Unlock()
	if suspect {
		limited, cancel := context.WithTimeout(ctx, pingTime)
		err := sess.Ping(limited)
		cancel()
		if err != nil && !client.IsRemote(err) && ctx.Err() == nil {
			return err
		}
	}
	if failed := u.refresh(ctx, sess); failed == 0 {
		again.reset()
	} else {
		u.mark(failed, false)
		again.start()
	}
	return nil
}

// pingTime is how long a server may take to show that it is there.
const pingTime = 5 * time.Second

// doubt asks for a check whether the server is there.
func (u *upstream) doubt() {
	u.host.mu.Lock()
	u.suspect = true
	u.host.mu.Unlock()
	u.rouse()
}

// mark asks for lists to be read again; many at once make one reading.
func (u *upstream) mark(what kind, now bool) {
	u.host.mu.Lock()
	u.pending |= what
	u.host.mu.Unlock()
	if now {
		u.rouse()
	}
}

func (u *upstream) rouse() {
	select {
	case u.wake <- struct{}{}:
	default:
	}
}
