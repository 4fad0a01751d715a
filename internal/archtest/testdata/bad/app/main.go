// Command app is a module of its own, which the compiler lets import the root's
// internal packages.
package main

import (
	"context"
	"time"

	_ "example.test/bad/high"
	_ "example.test/bad/internal/hidden"
)

func main() {
	ctx, revision := context.Background(), "2001-02-03"
	time.Sleep(0)
	_, _ = ctx, revision // a comment may say 2001-02-03
}
