//go:build race

package server_test

// underRace tells that the race detector is on: buffers then allocate twice when
// they grow.
const underRace = true
