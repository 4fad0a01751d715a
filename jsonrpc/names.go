package jsonrpc

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
	"strings"

	"github.com/ferrymcp/ferry/internal/json"
)

// Objects of up to smallObject names are checked for duplicates in a table of
// fixed size that is shared by all objects open at the time, which costs no
// allocation. Larger ones, and those that find the table full, use a map: its
// seeded hash keeps hostile names from making the check quadratic.
const (
	smallObject = 32
	tableSize   = 48
)

// names is the table.
type names struct {
	refs [tableSize]nameRef
	used int
}

type nameRef struct {
	key        uint64
	start, end uint32
}

// An object's names: those in the table from base on, or those in set.
type nameSet struct {
	base   int
	filter uint64 // one bit per name, to skip most comparisons
	set    map[string]struct{}
}

func (n *names) open() nameSet { return nameSet{base: n.used} }

func (n *names) close(seen nameSet) { n.used = seen.base }

// add notes the quoted name in data[start:end] and reports whether it is new
// to its object. An escaped name moves the object to a map, whose keys are
// unescaped.
func (n *names) add(seen *nameSet, data []byte, start, end int, escaped bool) bool {
	if seen.set == nil {
		if !escaped && n.used-seen.base < smallObject && n.used < tableSize {
			return n.addSmall(seen, data, start+1, end-1)
		}
		seen.set = make(map[string]struct{}, 2*(n.used-seen.base)+1)
		for _, ref := range n.refs[seen.base:n.used] {
			seen.set[json.Alias(data[ref.start:ref.end])] = struct{}{}
		}
		n.used = seen.base
	}
	name := json.Alias(data[start+1 : end-1])
	if escaped {
		name, _ = json.Unquote(data[start:end])
	}
	before := len(seen.set)
	seen.set[name] = struct{}{}
	return len(seen.set) > before
}

func (n *names) addSmall(seen *nameSet, data []byte, start, end int) bool {
	name := data[start:end]
	key := nameKey(name)
	bit := uint64(1) << (key >> 58)
	if seen.filter&bit != 0 {
		for _, ref := range n.refs[seen.base:n.used] {
			if ref.key == key && bytes.Equal(data[ref.start:ref.end], name) {
				return false
			}
		}
	}
	seen.filter |= bit
	n.refs[n.used] = nameRef{key, uint32(start), uint32(end)}
	n.used++
	return true
}

// nameKey tells most names apart by their length, first and last bytes.
func nameKey(name []byte) uint64 {
	var head, tail uint64
	switch n := len(name); {
	case n >= 8:
		head = binary.LittleEndian.Uint64(name)
		tail = binary.LittleEndian.Uint64(name[n-8:])
	case n >= 4:
		head = uint64(binary.LittleEndian.Uint32(name))
		tail = uint64(binary.LittleEndian.Uint32(name[n-4:]))
	case n > 0:
		head = uint64(name[0])
		tail = uint64(name[n/2])<<8 | uint64(name[n-1])
	}
	return (head ^ bits.RotateLeft64(tail, 23) ^ uint64(len(name))) * 0x9E3779B97F4A7C15
}

// excerpt quotes a peer's text for an error, shortened.
func excerpt(quoted []byte) string {
	const limit = 64
	text, _ := json.Unquote(quoted)
	if len(text) > limit {
		return strconv.QuoteToASCII(strings.ToValidUTF8(text[:limit], "")) + "…"
	}
	return strconv.QuoteToASCII(text)
}
