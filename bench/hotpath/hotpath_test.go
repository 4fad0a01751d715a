package main

import "testing"

// TestPaths makes a few requests on each path; they look at the replies.
func TestPaths(t *testing.T) {
	t.Parallel()
	for _, p := range paths() {
		request, err := p.open(t.Context())
		if err == nil {
			err = times(10, request)
		}
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
	}
}
