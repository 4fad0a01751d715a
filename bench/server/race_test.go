//go:build race

package main

// raced tells that the race detector runs, which allocates.
const raced = true
