package schema

import (
	"fmt"
	"strings"
)

// The bounds. They are far above every schema seen in practice and low enough
// that the worst input allowed costs seconds, not hours.
const (
	maxSchemaBytes   = 4 << 20
	maxNodes         = 10_000 // JSON values in a schema
	maxSchemaDepth   = 64     // schemas inside schemas
	maxJSONDepth     = 2 * maxSchemaDepth
	maxExpansion     = 2_000   // schemas applied to one value before input is consumed
	maxClosure       = 200_000 // the sum of all expansions
	maxPatternBytes  = 4_096
	maxPatternSize   = 4_000
	maxMatchSteps    = 200_000_000
	maxInstanceDepth = 256
	maxSteps         = 5_000_000 // schemas applied while checking one value
)

// guard measures a decoded schema before the library sees it and returns the
// graph by which values are measured.
func guard(doc any) (*graph, error) {
	nodes := 0
	if err := measure(doc, 0, &nodes, nil); err != nil {
		return nil, err
	}
	b := newBuilder(doc)
	if err := b.build(); err != nil {
		return nil, err
	}
	if err := b.graph.expand(); err != nil {
		return nil, err
	}
	return b.graph, nil
}

// measure counts the values of a document and bounds its depth, so that
// everything after it may recurse.
func measure(v any, depth int, nodes *int, path []string) error {
	if *nodes++; *nodes > maxNodes {
		return fmt.Errorf("schema has more than %d values", maxNodes)
	}
	if depth > maxJSONDepth {
		return fmt.Errorf("schema is nested more than %d deep at %s", maxJSONDepth, shorten(pointer(path)))
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			if err := measure(v[k], depth+1, nodes, append(path, k)); err != nil {
				return err
			}
		}
	case []any:
		for i, e := range v {
			if err := measure(e, depth+1, nodes, append(path, fmt.Sprint(i))); err != nil {
				return err
			}
		}
	}
	return nil
}

// pointer writes a JSON pointer.
func pointer(path []string) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteByte('/')
		b.WriteString(escapePointer.Replace(p))
	}
	return b.String()
}

var (
	escapePointer   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")
)

// shorten keeps a hostile name from filling an error.
func shorten(s string) string {
	const most = 120
	if s == "" {
		return "the root"
	}
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
