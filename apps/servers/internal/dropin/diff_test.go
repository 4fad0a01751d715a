package dropin

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		theirs, ours string
		want         []string
	}{
		{`{"a":[1,2],"b":{"c":null}}`, `{"b":{"c":null},"a":[1,2]}`, nil},
		{`{"a":1}`, `{"b":1}`, []string{"x/a", "x/b"}},
		{`{"a":[1,2]}`, `{"a":[1,3,4]}`, []string{"x/a/1", "x/a/2"}},
		{`{"a":{"b":1}}`, `{"a":[1]}`, []string{"x/a/0", "x/a/b"}},
		{`{"a":{"b":1}}`, `{"a":"b"}`, []string{"x/a"}},
	} {
		var theirs, ours any
		if err := json.Unmarshal([]byte(tt.theirs), &theirs); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(tt.ours), &ours); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range diff("x", theirs, ours) {
			got = append(got, f.path)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s and %s (-want +got):\n%s", tt.theirs, tt.ours, d)
		}
	}
}
