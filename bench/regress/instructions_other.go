//go:build !linux

package main

import "context"

// instructions are not counted here.
func instructions(context.Context, string, string) (float64, error) { return 0, nil }
