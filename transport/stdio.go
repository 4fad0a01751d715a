package transport

import (
	"errors"
	"sync/atomic"
)

var stdioTaken atomic.Bool

// Stdio returns the connection to the client that started this process: the
// stdio transport, server side. The connection takes standard input and output
// for itself: what the program prints to standard output from then on
// goes to standard error, as does that of its child processes, and reading
// standard input gives nothing. It stays so after Close.
//
// It is called once in a process; the second call is an error.
func Stdio() (Conn, error) {
	if !stdioTaken.CompareAndSwap(false, true) {
		return nil, errors.New("standard input and output are in use by a connection")
	}
	r, w, err := takeStdio()
	if err != nil {
		stdioTaken.Store(false)
		return nil, err
	}
	return Lines(r, w, nil), nil
}
