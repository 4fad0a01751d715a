package folder

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// contextLines is how many unchanged lines surround a change.
	contextLines = 4
	// maxTable bounds the work of finding which lines stayed. Beyond it, what
	// lies between the first and the last change counts as changed.
	maxTable = 4 << 20
)

// An op is a line of a diff: ' ' stayed, '-' went, '+' came.
type op struct {
	kind byte
	line string
}

// Diff writes the difference between two texts as a unified diff, with the head of
// one that git indexes; that is all if there is none.
func Diff(name, old, changed string) string {
	a, b := splitLines(old), splitLines(changed)
	ops := shortest(a, b)
	if ops == nil {
		ops = compare(a, b)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "Index: %s\n%s\n--- %s\toriginal\n+++ %s\tmodified\n", name, strings.Repeat("=", 67), name, name)
	oldLine, newLine := 1, 1
	for i := 0; i < len(ops); {
		if ops[i].kind == ' ' {
			oldLine++
			newLine++
			i++
			continue
		}
		start := max(0, i-contextLines)
		end := hunkEnd(ops, i)
		writeHunk(&out, ops[start:end], oldLine-(i-start), newLine-(i-start))
		for _, o := range ops[i:end] {
			if o.kind != '+' {
				oldLine++
			}
			if o.kind != '-' {
				newLine++
			}
		}
		i = end
	}
	return out.String()
}

// hunkEnd finds where the changes that begin at i, with the lines between and
// after them, end. Changes whose surroundings touch are one hunk.
func hunkEnd(ops []op, i int) int {
	last := i
	for ; i < len(ops) && i-last <= 2*contextLines+1; i++ {
		if ops[i].kind != ' ' {
			last = i
		}
	}
	return min(last+1+contextLines, len(ops))
}

// writeHunk writes lines with a head that says where they are.
func writeHunk(b *strings.Builder, ops []op, oldLine, newLine int) {
	oldCount, newCount := 0, 0
	for _, o := range ops {
		if o.kind != '+' {
			oldCount++
		}
		if o.kind != '-' {
			newCount++
		}
	}
	// By convention an empty side is said to be after the line before it.
	if oldCount == 0 {
		oldLine--
	}
	if newCount == 0 {
		newLine--
	}
	fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n", oldLine, oldCount, newLine, newCount)
	for _, o := range ops {
		b.WriteByte(o.kind)
		b.WriteString(strings.TrimSuffix(o.line, "\n"))
		b.WriteByte('\n')
		if !strings.HasSuffix(o.line, "\n") {
			b.WriteString("\\ No newline at end of file\n")
		}
	}
}

// splitLines splits after each line end; an empty text has no lines.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// compare finds which lines stayed.
func compare(a, b []string) []op {
	var ops, tail []op
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		ops = append(ops, op{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append(tail, op{' ', a[len(a)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	ops = append(ops, middle(a, b)...)
	slices.Reverse(tail)
	return append(ops, tail...)
}

// middle finds a longest common subsequence of lines with a table of lengths.
func middle(a, b []string) []op {
	ops := make([]op, 0, len(a)+len(b))
	if (len(a)+1)*(len(b)+1) <= maxTable {
		width := len(b) + 1
		common := make([]int32, (len(a)+1)*width)
		for i, x := range slices.Backward(a) {
			for j, y := range slices.Backward(b) {
				if x == y {
					common[i*width+j] = common[(i+1)*width+j+1] + 1
				} else {
					common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
				}
			}
		}
		i, j := 0, 0
		for i < len(a) && j < len(b) {
			switch {
			case a[i] == b[j]:
				ops = append(ops, op{' ', a[i]})
				i++
				j++
			case common[(i+1)*width+j] >= common[i*width+j+1]:
				ops = append(ops, op{'-', a[i]})
				i++
			default:
				ops = append(ops, op{'+', b[j]})
				j++
			}
		}
		a, b = a[i:], b[j:]
	}
	for _, line := range a {
		ops = append(ops, op{'-', line})
	}
	for _, line := range b {
		ops = append(ops, op{'+', line})
	}
	return ops
}
