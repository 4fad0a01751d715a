package transport

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// takeStdio keeps the handles of standard input and output and puts harmless
// ones in their place.
func takeStdio() (io.ReadCloser, io.WriteCloser, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, nil, err
	}
	if err := windows.SetStdHandle(windows.STD_INPUT_HANDLE, windows.Handle(null.Fd())); err != nil {
		return nil, nil, fmt.Errorf("take standard input: %w", err)
	}
	if err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(os.Stderr.Fd())); err != nil {
		return nil, nil, fmt.Errorf("take standard output: %w", err)
	}
	in, out := os.Stdin, os.Stdout
	os.Stdin, os.Stdout = null, os.Stderr
	return in, out, nil
}
