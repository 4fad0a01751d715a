package main

import (
	"github.com/ferrymcp/ferry/bench/program"
	"github.com/ferrymcp/ferry/httpserver"
	"github.com/ferrymcp/ferry/server"
)

// serveHTTP serves until it fails: the driver ends the process.
func serveHTTP(s program.Settings, srv *server.Server) error {
	h := httpserver.New(srv, &httpserver.Options{
		Stateless: s.Stateless, MaxSessions: 100_000, MaxBody: 64 << 20,
	})
	defer h.Close()
	if !s.Protected {
		return s.ListenAndServe(h)
	}
	protected, err := protect(h)
	if err != nil {
		return err
	}
	return s.ListenAndServe(protected)
}
