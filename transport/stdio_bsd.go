//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package transport

import "golang.org/x/sys/unix"

// dupOnto makes to refer to what from refers to.
func dupOnto(from, to int) error { return unix.Dup2(from, to) }
