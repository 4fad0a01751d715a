package schema

import "fmt"

// costError says that a value would take too many steps to check.
type costError struct{ text string }

func (e *costError) Error() string { return e.text }

var errTooCostly = &costError{fmt.Sprintf("value is too large or too deep for this schema: checking it would take more than %d steps", maxSteps)}

// afford reports whether checking v stays within bounds. A recursive schema may
// check one part of a value many times: two branches that both lead to the next
// level double the work at each level. The walk here counts those visits
// instead of making them, so its own cost is about that of one visit each.
func (g *graph) afford(v any) error {
	size := valueCount(v)
	if !g.shared && !g.unique && size*g.reached <= maxSteps {
		return nil // each schema sees each value at most once
	}
	w := walker{graph: g}
	w.visit(v, []times{{0, 1}})
	if w.steps > maxSteps || w.work > 4*maxSteps {
		return errTooCostly
	}
	return nil
}

func valueCount(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			n += valueCount(e)
		}
	case []any:
		for _, e := range v {
			n += valueCount(e)
		}
	}
	return n
}

type walker struct {
	graph *graph
	steps float64 // what the library would do
	work  float64 // what this walk did
}

// visit counts the schemas applied to v, given those that name it.
func (w *walker) visit(v any, named []times) {
	if len(named) == 0 || w.steps > maxSteps || w.work > 4*maxSteps {
		return
	}
	active := merge(func(yield func(int, float64)) {
		for _, t := range named {
			for _, c := range w.graph.closure[t.node] {
				yield(c.node, t.count*c.count)
				w.work++
			}
		}
	})
	for _, a := range active {
		w.steps += a.count * float64(w.graph.nodes[a.node].weight)
	}
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			w.visit(e, w.property(active, k))
		}
	case []any:
		w.duplicates(v, active)
		for i, e := range v {
			w.visit(e, w.item(active, i))
		}
	}
}

func (w *walker) property(active []times, name string) []times {
	return merge(func(yield func(int, float64)) {
		for _, a := range active {
			n := &w.graph.nodes[a.node]
			if i, ok := n.props[name]; ok {
				yield(i, a.count)
			}
			for _, i := range n.anyProp {
				yield(i, a.count)
			}
			for _, i := range n.names {
				for _, c := range w.graph.closure[i] {
					w.steps += a.count * c.count
				}
			}
			w.work += float64(1 + len(n.anyProp))
		}
	})
}

func (w *walker) item(active []times, index int) []times {
	return merge(func(yield func(int, float64)) {
		for _, a := range active {
			n := &w.graph.nodes[a.node]
			if index < len(n.prefix) {
				yield(n.prefix[index], a.count)
			}
			for _, i := range n.anyItem {
				yield(i, a.count)
			}
			w.work += float64(1 + len(n.anyItem))
		}
	})
}

// duplicates adds the cost of uniqueItems. The library hashes the items, but
// hashes of nested values can be made to collide, and then it compares all
// pairs; comparing is cheaper than a step.
func (w *walker) duplicates(items []any, active []times) {
	nested := 0.0
	for _, e := range items {
		switch e.(type) {
		case map[string]any, []any:
			nested++
		}
	}
	for _, a := range active {
		if w.graph.nodes[a.node].unique {
			w.steps += a.count * (float64(len(items)) + nested*nested/10)
		}
	}
}

// merge adds up counts per node. The lists are nearly always one or two long.
func merge(produce func(yield func(int, float64))) []times {
	var list []times
	var index map[int]int
	produce(func(n int, count float64) {
		if index != nil {
			if i, ok := index[n]; ok {
				list[i].count += count
				return
			}
			index[n] = len(list)
			list = append(list, times{n, count})
			return
		}
		for i := range list {
			if list[i].node == n {
				list[i].count += count
				return
			}
		}
		list = append(list, times{n, count})
		if len(list) > 16 {
			index = make(map[int]int, 64)
			for i, t := range list {
				index[t.node] = i
			}
		}
	})
	return list
}
