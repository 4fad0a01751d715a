package main

import (
	"errors"

	"github.com/ferrymcp/ferry/bench/program"
	"github.com/ferrymcp/ferry/server"
)

func serveHTTP(program.Settings, *server.Server) error {
	return errors.New("HTTP is not served")
}
