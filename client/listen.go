package client

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/transport"
)

// The wait before a stream that ended is opened again, which doubles each time
// the stream did not last.
const (
	minRelisten = time.Second
	maxRelisten = time.Minute
)

// maxOpening is how long the user of a session waits for its stream. Some
// servers answer only when they have something to say.
const maxOpening = 500 * time.Millisecond

// listen takes what the server sends by itself where that needs a stream of its
// own, for as long as the link lasts. The stream is not essential: a server may
// have none, or refuse it. What the server sends before the stream is open is
// lost, so listen waits for it for a while.
func (l *link) listen() {
	listener, ok := l.rt.(transport.Listener)
	if !ok || l.mute.Load() {
		return
	}
	settled := make(chan struct{})
	settle := sync.OnceFunc(func() { close(settled) })
	began := false // guarded by the order of the calls
	opened := func() {
		settle()
		if began {
			l.sess.subs.missed() // what the server sent since the stream before
		}
		began = true
	}
	l.sess.tasks.start(func() {
		defer settle()
		l.keepListening(listener, opened, settle)
	})
	timer := time.NewTimer(maxOpening)
	defer timer.Stop()
	select {
	case <-settled:
	case <-timer.C:
	case <-l.ctx.Done():
	}
}

// keepListening opens the stream, and again when it ends, until the server has
// none or the link ends. It calls opened each time there is a stream, and settle
// when there is none for now.
func (l *link) keepListening(listener transport.Listener, opened, settle func()) {
	for wait := minRelisten; ; wait = min(2*wait, maxRelisten) {
		began := time.Now()
		err := listener.Listen(l.ctx, l.speaks().revision().Name(), opened)
		settle()
		status, refused := errors.AsType[httpError](err)
		switch {
		case l.ctx.Err() != nil || errors.Is(err, errors.ErrUnsupported):
			return
		case refused && !passing(status.HTTPStatus()) || errors.Is(err, transport.ErrSessionLost) || errors.Is(err, transport.ErrClosed):
			l.sess.log.Info("no stream of the server's messages", slog.Any("error", err))
			return
		}
		l.sess.log.Debug("stream of the server's messages ended", slog.Any("error", err))
		if time.Since(began) > maxRelisten {
			wait = minRelisten
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-l.ctx.Done():
			timer.Stop()
			return
		}
	}
}

// passing reports whether a status tells of trouble that may pass, rather than
// of a server without the stream.
func passing(status int) bool {
	return status == 429 || status >= 500 && status != 501
}
