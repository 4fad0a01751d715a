package low

import (
	"context"
	stdtime "time"

	_ "example.test/bad/high"
)

// Documented has a comment.
type Documented struct{}

func Bare() {}

// Start starts what nobody waits for.
func Start() {
	time := struct{ Sleep stdtime.Duration }{}
	ctx := context.Background()
	go func() { <-ctx.Done() }()
	_ = time.Sleep // not the function
}

// detached is made outside any function.
var detached = context.TODO()
