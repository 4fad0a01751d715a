//go:build race

package auth_test

// raceEnabled tells that the race detector is on, which allocates for itself.
const raceEnabled = true
