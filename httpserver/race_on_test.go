//go:build race

package httpserver_test

// raceEnabled tells that the race detector is on, which allocates for itself.
const raceEnabled = true
