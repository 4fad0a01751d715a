// Package revision holds what differs between the released revisions of the
// protocol, as data: one file per revision, each a changelog in code. It is
// the only place that names revisions. Everything else asks a [*Revision]
// what it [Revision.Has] and [Revision.Defines], and passes outgoing values
// through [Encode].
//
// To add a revision, add its file and its line in [All]. To drop one, delete
// both.
package revision

import "slices"

// A Revision is one released revision of the protocol. Revisions are compared
// by pointer; there is one value for each.
type Revision struct {
	name     string
	modern   bool
	features Feature
	methods  methodSet
	// undo rewrites what this revision added for peers of the one before.
	undo undo
	// gone rewrites what revisions before this one had and this one has not.
	// Only parts of lists and of what a server says of itself have any.
	gone undo
	// older are the undos of all revisions newer than this one, newest first.
	older []*undo
}

// all lists the revisions, oldest first.
var all = link(rev20241105, rev20250326, rev20250618, rev20251125, rev20260728)

// link tells each revision which changes lie between it and the newest.
func link(revs ...*Revision) []*Revision {
	for i, r := range revs {
		for j := len(revs) - 1; j > i; j-- {
			r.older = append(r.older, &revs[j].undo)
		}
	}
	return revs
}

// All returns the revisions, oldest first.
func All() []*Revision { return slices.Clone(all) }

// Names returns the names of the revisions, newest first, as servers list them.
func Names() []string {
	names := make([]string, 0, len(all))
	for _, r := range slices.Backward(all) {
		names = append(names, r.name)
	}
	return names
}

// Newest returns the newest revision.
func Newest() *Revision { return all[len(all)-1] }

// NewestLegacy returns the newest revision that opens with initialize.
func NewestLegacy() *Revision {
	for _, r := range slices.Backward(all) {
		if !r.modern {
			return r
		}
	}
	return nil
}

// Implied returns the revision that a message over HTTP is taken for when it
// belongs to no session and names none: the last one without a version header.
func Implied() *Revision {
	for _, r := range slices.Backward(all) {
		if !r.Has(VersionHeader) {
			return r
		}
	}
	return all[0]
}

// Parse returns the revision of that name.
func Parse(name string) (*Revision, bool) {
	for _, r := range all {
		if r.name == name {
			return r, true
		}
	}
	return nil, false
}

// Negotiate returns the revision to answer an initialize request with: the
// offered one when it opens with initialize, else the newest that does.
func Negotiate(offered string) *Revision {
	if r, ok := Parse(offered); ok && !r.modern {
		return r
	}
	return NewestLegacy()
}

// Name returns the revision's name as it stands on the wire.
func (r *Revision) Name() string { return r.name }

// String returns the name.
func (r *Revision) String() string { return r.name }

// Modern reports whether requests of this revision are stateless and carry
// their version, identity and capabilities themselves.
func (r *Revision) Modern() bool { return r.modern }

// Has reports whether the revision has a feature.
func (r *Revision) Has(f Feature) bool { return r.features&f == f }

// Defines reports whether the revision defines a request or notification that
// a client sends to a server.
func (r *Revision) Defines(method string) bool { return r.methods[method]&fromClient != 0 }

// DefinesServer reports whether the revision defines a request or
// notification that a server sends to a client.
func (r *Revision) DefinesServer(method string) bool { return r.methods[method]&fromServer != 0 }
