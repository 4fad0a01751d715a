package schema

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Keywords that hold schemas, in every draft: a schema of one draft is read as
// if the keywords of all were meant, which can only overestimate its cost.
var (
	inPlaceOne  = []string{"not", "if", "then", "else"}
	inPlaceList = []string{"allOf", "anyOf", "oneOf"}
	inPlaceMap  = []string{"dependentSchemas", "dependencies"}
	objectOne   = []string{"additionalProperties", "unevaluatedProperties"}
	arrayOne    = []string{"items", "additionalItems", "contains", "unevaluatedItems"}
	definitions = []string{"$defs", "definitions"}
)

// builder turns a decoded schema into a graph. Places are JSON pointers from
// the root of the document.
type builder struct {
	doc     any
	graph   *graph
	byPlace map[string]int
	bases   []string          // of each node
	objects []map[string]any  // of each node; nil for true and false
	ids     map[string]string // absolute URI to the place of its resource
	anchors map[string]string // absolute URI#name to place
	dynamic map[string][]int  // $dynamicAnchor name to nodes
	recurse []int             // nodes with $recursiveAnchor
	idKey   string
	meta    int // the node standing for a published metaschema, or -1
}

func newBuilder(doc any) *builder {
	b := &builder{
		doc: doc, graph: &graph{}, byPlace: map[string]int{}, ids: map[string]string{"": ""},
		anchors: map[string]string{}, dynamic: map[string][]int{}, idKey: "$id", meta: -1,
	}
	if m, ok := doc.(map[string]any); ok {
		if s, _ := m["$schema"].(string); strings.Contains(s, "/draft-04/") {
			b.idKey = "id"
		}
	}
	return b
}

// build adds the schemas reachable through keywords first, so that every
// identifier is known, then follows the references.
func (b *builder) build() error {
	if _, err := b.add(b.doc, "", "", 0); err != nil {
		return err
	}
	for i := 0; i < len(b.objects); i++ { // following adds nodes
		if err := b.follow(i); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) add(v any, place, base string, depth int) (int, error) {
	if i, ok := b.byPlace[place]; ok {
		return i, nil
	}
	if depth > maxSchemaDepth {
		return 0, fmt.Errorf("schemas are nested more than %d deep at %s", maxSchemaDepth, shorten(place))
	}
	m, isObject := v.(map[string]any)
	if _, isBool := v.(bool); !isObject && !isBool {
		return 0, fmt.Errorf("schema at %s must be an object or a boolean", shorten(place))
	}
	i := len(b.graph.nodes)
	b.byPlace[place] = i
	b.graph.nodes = append(b.graph.nodes, node{place: place, weight: 1})
	b.objects = append(b.objects, m)
	if err := dialect(m, place); err != nil {
		return 0, err
	}
	base = b.identify(m, place, base, i)
	b.bases = append(b.bases, base)
	if !isObject {
		return i, nil
	}
	n, err := b.children(m, place, base, depth)
	if err != nil {
		return 0, err
	}
	b.graph.nodes[i] = n
	return i, nil
}

// dialects are the ones that can be named by $schema, without scheme and host.
var dialects = []string{
	"schema", "draft/2020-12/schema", "draft/2019-09/schema", "draft-07/schema", "draft-06/schema", "draft-04/schema",
}

// KnownDialect reports whether $schema may have this value.
func KnownDialect(name string) bool {
	return slices.Contains(dialects, published(strings.TrimSuffix(name, "#")))
}

// dialect refuses a schema that is written for a dialect we do not know: it may
// mean anything.
func dialect(m map[string]any, place string) error {
	name, ok := m["$schema"].(string)
	if !ok || KnownDialect(name) {
		return nil
	}
	return fmt.Errorf("dialect %s of the schema at %s is not supported: use JSON Schema 2020-12, 2019-09 or draft 7, 6 or 4",
		shorten(name), shorten(place))
}

// identify records what references may name this schema and returns its base.
func (b *builder) identify(m map[string]any, place, base string, i int) string {
	if id, _ := m[b.idKey].(string); id != "" {
		abs, frag := resolve(base, id)
		if frag != "" && abs == base {
			b.anchors[base+"#"+frag] = place
		} else {
			base = abs
			b.ids[base] = place
		}
	}
	for _, k := range []string{"$anchor", "$dynamicAnchor"} {
		if name, _ := m[k].(string); name != "" {
			b.anchors[base+"#"+name] = place
			if k == "$dynamicAnchor" {
				b.dynamic[name] = append(b.dynamic[name], i)
			}
		}
	}
	if on, _ := m["$recursiveAnchor"].(bool); on {
		b.recurse = append(b.recurse, i)
	}
	return base
}

// children adds the schemas inside m and returns its node.
func (b *builder) children(m map[string]any, place, base string, depth int) (node, error) {
	n := node{place: place, weight: 1}
	in := within{b: b, m: m, place: place, base: base, depth: depth + 1}
	for _, k := range inPlaceOne {
		in.one(k, &n.inPlace)
	}
	for _, k := range inPlaceList {
		in.list(k, &n.inPlace)
	}
	for _, k := range inPlaceMap {
		in.each(k, func(_ string, i int) { n.inPlace = append(n.inPlace, i) })
	}
	for _, k := range objectOne {
		in.one(k, &n.anyProp)
	}
	for _, k := range arrayOne {
		in.one(k, &n.anyItem)
	}
	in.each("patternProperties", func(_ string, i int) { n.anyProp = append(n.anyProp, i) })
	in.each("properties", n.setProp)
	in.one("propertyNames", &n.names)
	in.list("prefixItems", &n.prefix)
	in.list("items", &n.prefix)
	for _, k := range definitions {
		in.each(k, func(string, int) {})
	}
	if l, ok := m["enum"].([]any); ok {
		n.weight += len(l) / 8
	}
	n.unique, _ = m["uniqueItems"].(bool)
	b.graph.unique = b.graph.unique || n.unique
	return n, in.err
}

// within adds the schemas inside one schema and keeps the first error.
type within struct {
	b           *builder
	m           map[string]any
	place, base string
	depth       int
	err         error
}

func (in *within) add(v any, path string) int {
	i, err := in.b.add(v, in.place+path, in.base, in.depth)
	if err != nil && in.err == nil {
		in.err = err
	}
	return i
}

// one reads a keyword that holds a schema.
func (in *within) one(k string, to *[]int) {
	if v, ok := in.m[k]; ok && isSchema(v) {
		*to = append(*to, in.add(v, "/"+k))
	}
}

// list reads a keyword that holds a list of schemas.
func (in *within) list(k string, to *[]int) {
	l, _ := in.m[k].([]any)
	for i, v := range l {
		*to = append(*to, in.add(v, "/"+k+"/"+strconv.Itoa(i)))
	}
}

// each reads a keyword that holds schemas by name.
func (in *within) each(k string, visit func(name string, i int)) {
	o, _ := in.m[k].(map[string]any)
	for _, name := range sortedKeys(o) {
		if isSchema(o[name]) {
			visit(name, in.add(o[name], "/"+k+"/"+escapePointer.Replace(name)))
		}
	}
}

// follow resolves the references of node i.
func (b *builder) follow(i int) error {
	m, place := b.objects[i], b.graph.nodes[i].place
	var targets []int
	for _, k := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		ref, ok := m[k].(string)
		if !ok {
			continue
		}
		t, err := b.resolve(ref, b.bases[i])
		if err != nil {
			return fmt.Errorf("%s at %s: %w", k, shorten(place), err)
		}
		targets = append(targets, t)
		switch k {
		case "$dynamicRef": // the target depends on the path taken: count all
			_, name, _ := strings.Cut(ref, "#")
			targets = append(targets, b.dynamic[name]...)
		case "$recursiveRef":
			targets = append(targets, b.recurse...)
		}
	}
	slices.Sort(targets)
	b.graph.nodes[i].inPlace = append(b.graph.nodes[i].inPlace, slices.Compact(targets)...)
	return nil
}

// resolve finds the node a reference names, without leaving the document.
func (b *builder) resolve(ref, base string) (int, error) {
	abs, frag := resolve(base, ref)
	place, ok := b.ids[abs]
	if !ok {
		if isMetaschema(abs) {
			return b.metaschema(), nil
		}
		return 0, fmt.Errorf("reference to %s refused: schemas are not fetched", shorten(ref))
	}
	if frag == "" {
		return b.byPlace[place], nil
	}
	if !strings.HasPrefix(frag, "/") {
		if place, ok = b.anchors[abs+"#"+frag]; !ok {
			return 0, fmt.Errorf("no anchor named %s in this schema", shorten(frag))
		}
		return b.byPlace[place], nil
	}
	target, full, ok := lookup(b.doc, place+frag)
	if !ok {
		return 0, fmt.Errorf("nothing at %s in this schema", shorten(frag))
	}
	return b.add(target, full, abs, 0)
}

// metaschema adds the node that stands for all published metaschemas, which
// the library carries. They recurse into each value of a schema once.
func (b *builder) metaschema() int {
	if b.meta < 0 {
		b.meta = len(b.graph.nodes)
		self := []int{b.meta}
		b.graph.nodes = append(b.graph.nodes, node{place: "metaschema", weight: 40, anyProp: self, anyItem: self})
		b.objects = append(b.objects, nil)
		b.bases = append(b.bases, "")
	}
	return b.meta
}

func isMetaschema(abs string) bool {
	rest := published(abs)
	return rest == "schema" || strings.HasPrefix(rest, "draft")
}

// published returns what follows the host in an address of the publisher of
// JSON Schema, and nothing for other addresses.
func published(abs string) string {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(strings.TrimPrefix(abs, "http://"), "https://"), "json-schema.org/")
	if !ok {
		return ""
	}
	return rest
}

// resolve splits a reference into the absolute URI and the decoded fragment.
func resolve(base, ref string) (abs, fragment string) {
	ref, fragment, _ = strings.Cut(ref, "#")
	if f, err := url.PathUnescape(fragment); err == nil {
		fragment = f
	}
	if ref == "" {
		return base, fragment
	}
	r, err := url.Parse(ref)
	if err != nil {
		return ref, fragment
	}
	if root, err := url.Parse(base); err == nil && base != "" {
		r = root.ResolveReference(r)
	}
	return r.String(), fragment
}

// lookup follows a JSON pointer and returns the pointer in canonical spelling.
func lookup(v any, ptr string) (any, string, bool) {
	path := strings.Split(ptr, "/")[1:]
	for i, tok := range path {
		tok = unescapePointer.Replace(tok)
		path[i] = tok
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[tok]
			if !ok {
				return nil, "", false
			}
			v = next
		case []any:
			n, err := strconv.Atoi(tok)
			if err != nil || n < 0 || n >= len(at) {
				return nil, "", false
			}
			path[i] = strconv.Itoa(n)
			v = at[n]
		default:
			return nil, "", false
		}
	}
	return v, pointer(path), true
}

func isSchema(v any) bool {
	switch v.(type) {
	case bool, map[string]any:
		return true
	}
	return false
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
