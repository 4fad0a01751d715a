package mcptest

import (
	"testing"
	"time"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/transport"
)

// Watch has see look at every message of every grid. It must be called before
// any test runs.
func Watch(see func(t *testing.T, revision string) func(transport.Frame)) { watch = see }

// Disturb has chaos disturb every grid that begins before the function returned
// is called.
func Disturb(chaos *Chaos) (stop func()) {
	disturb = chaos
	return func() { disturb = nil }
}

// Reach calls test for every cell of the grid with what connects there.
func (g Grid) Reach(t *testing.T, test func(t *testing.T, connect func() (*client.Session, error), name string)) {
	for _, carrier := range g.Carriers {
		t.Run(string(carrier), func(t *testing.T) {
			via := g.reach(t, carrier)
			for _, revision := range client.Revisions() {
				t.Run(revision, func(t *testing.T) {
					opts := &client.Options{Revision: revision, Timeout: 3 * time.Second, ConnectTimeout: 3 * time.Second}
					test(t, func() (*client.Session, error) {
						way := via
						if watch != nil {
							way = transport.Tap(via, watch(t, revision))
						}
						return client.New(ClientInfo, opts).Connect(t.Context(), way)
					}, string(carrier)+"/"+revision)
				})
			}
		})
	}
}
