//go:build !race

package httpserver_test

const raceEnabled = false
