// Package hidden is where revisions are spelled out.
package hidden

// Name is the one revision.
const Name = "2001-02-03"
