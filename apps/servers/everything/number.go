package everything

import (
	"math"
	"strconv"
	"strings"
)

// number writes a number as JSON and JavaScript do: the shortest form, without an
// exponent unless it is far from one.
func number(f float64) string {
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		text := strconv.FormatFloat(f, 'e', -1, 64)
		return strings.NewReplacer("e-0", "e-", "e+0", "e+").Replace(text)
	}
	if f == 0 {
		return "0" // also what is less than nothing
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
