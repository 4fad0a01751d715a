package folder

import (
	"cmp"
	"strings"
	"unicode"
)

// order is how people sort what is on a keyboard: signs, digits, letters.
const order = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789"

// weight is the place of a character among others, capitals and small letters being
// the same.
func weight(r rune) int {
	if i := strings.IndexRune(order, r); i >= 0 {
		return i
	}
	return len(order) + int(unicode.ToLower(r))
}

// Compare orders names as people do: by their characters first and, where those are
// the same, small letters before capitals.
func Compare(a, b string) int {
	x, y := []rune(a), []rune(b)
	for i := range min(len(x), len(y)) {
		if c := cmp.Compare(weight(x[i]), weight(y[i])); c != 0 {
			return c
		}
	}
	if c := cmp.Compare(len(x), len(y)); c != 0 {
		return c
	}
	for i := range x {
		if x[i] != y[i] {
			if unicode.IsLower(x[i]) {
				return -1
			}
			return 1
		}
	}
	return 0
}
