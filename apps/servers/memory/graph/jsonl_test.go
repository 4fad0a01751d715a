package graph_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/apps/servers/memory/graph"
)

// FuzzParse reads anything, and checks that what is written of it is read alike.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"type":"entity","name":"a","entityType":"b","observations":["c"]}` + "\n" + `{"type":"relation","from":"a","to":"b","relationType":"c"}` + "\r\nnone"))
	f.Add([]byte("\ufeff{}\n\n[1]\x00"))
	f.Add([]byte(`{"type":"entity","name":"\ud800","entityType":"","observations":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := graph.Parse(data)
		written, err := d.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, graph.Parse(written)); diff != "" {
			t.Errorf("written and read again (-first +again):\n%s", diff)
		}
	})
}
