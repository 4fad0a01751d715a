package schema

import "fmt"

// graph is what a schema applies to what: enough to bound the work of checking
// a value, nothing about what the checks are.
type graph struct {
	nodes   []node
	closure [][]times // per reachable node: everything applied to the same value
	unique  bool      // some node has uniqueItems
	shared  bool      // some node is reached from more than one place
	reached int
}

type node struct {
	place   string
	weight  int
	inPlace []int          // applied to the value itself
	props   map[string]int // applied to the property of that name
	anyProp []int          // applied to properties of any name
	names   []int          // applied to property names
	prefix  []int          // applied to the item of that index
	anyItem []int          // applied to every item
	unique  bool
}

// times says how often a node is applied.
type times struct {
	node  int
	count float64 // saturates instead of overflowing
}

func (n *node) setProp(name string, i int) {
	if n.props == nil {
		n.props = map[string]int{}
	}
	n.props[name] = i
}

// consuming calls visit for each schema applied to a part of the value.
func (n *node) consuming(visit func(int)) {
	for _, l := range [][]int{n.anyProp, n.names, n.prefix, n.anyItem} {
		for _, i := range l {
			visit(i)
		}
	}
	for _, i := range n.props {
		visit(i)
	}
}

// expand computes the closure of every node that can be reached from the root
// and refuses cycles and expansions out of bounds.
func (g *graph) expand() error {
	g.closure = make([][]times, len(g.nodes))
	x := expander{g: g, state: make([]byte, len(g.nodes))}
	seen := make([]bool, len(g.nodes))
	seen[0] = true
	for queue := []int{0}; len(queue) > 0; queue = queue[1:] {
		i := queue[0]
		g.reached++
		if err := x.expand(i); err != nil {
			return err
		}
		push := func(i int) {
			if seen[i] {
				g.shared = true
				return
			}
			seen[i] = true
			queue = append(queue, i)
		}
		for _, c := range g.nodes[i].inPlace {
			push(c)
		}
		g.nodes[i].consuming(push)
	}
	return nil
}

type expander struct {
	g     *graph
	state []byte // 0 new, 1 in progress, 2 done
	total int
}

func (x *expander) expand(i int) error {
	n := &x.g.nodes[i]
	switch x.state[i] {
	case 1:
		return fmt.Errorf("schema at %s refers back to itself without consuming input", shorten(n.place))
	case 2:
		return nil
	}
	x.state[i] = 1
	counts := map[int]float64{i: 1}
	order := []int{i}
	sum := 1.0
	for _, c := range n.inPlace {
		if err := x.expand(c); err != nil {
			return err
		}
		for _, t := range x.g.closure[c] {
			if counts[t.node] == 0 {
				order = append(order, t.node)
			}
			counts[t.node] += t.count
			sum += t.count
		}
		if sum > maxExpansion {
			return fmt.Errorf("schema at %s applies more than %d schemas to one value", shorten(n.place), maxExpansion)
		}
	}
	list := make([]times, len(order))
	for k, id := range order {
		list[k] = times{id, counts[id]}
	}
	if x.total += len(list); x.total > maxClosure {
		return fmt.Errorf("schema at %s: all expansions together have more than %d schemas", shorten(n.place), maxClosure)
	}
	x.g.closure[i] = list
	x.state[i] = 2
	return nil
}
