//go:build race

package client_test

// raced tells that the race detector runs, which allocates.
const raced = true
