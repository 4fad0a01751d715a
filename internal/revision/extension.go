package revision

import (
	stdjson "encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ferrymcp/ferry/internal/json"
)

// CheckExtensions says what is wrong with the extensions that a peer is going to
// declare, if anything: they go by the keys of metadata, with a prefix and a name,
// and their settings are objects.
//
// https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extensions
func CheckExtensions(extensions map[string]stdjson.RawMessage) error {
	for _, id := range slices.Sorted(maps.Keys(extensions)) {
		if !validExtension(id) {
			return fmt.Errorf("extension %q: the identifier must be a prefix such as com.example, a slash and a name", id)
		}
		settings, err := json.Compact(extensions[id])
		if err != nil {
			return fmt.Errorf("extension %q: settings: %w", id, err)
		}
		if settings[0] != '{' {
			return fmt.Errorf("extension %q: the settings must be a JSON object", id)
		}
	}
	return nil
}

func validExtension(id string) bool {
	prefix, name, ok := strings.Cut(id, "/")
	if !ok || name == "" || !isAlnum(name[0]) || !isAlnum(name[len(name)-1]) || !consistsOf(name, "-_.") {
		return false
	}
	for label := range strings.SplitSeq(prefix, ".") {
		if label == "" || !isAlpha(label[0]) || !isAlnum(label[len(label)-1]) || !consistsOf(label, "-") {
			return false
		}
	}
	return true
}

// consistsOf reports whether text has only letters, digits and some others.
func consistsOf(text, others string) bool {
	for i := range len(text) {
		if !isAlnum(text[i]) && strings.IndexByte(others, text[i]) < 0 {
			return false
		}
	}
	return true
}

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isAlnum(c byte) bool { return isAlpha(c) || '0' <= c && c <= '9' }
