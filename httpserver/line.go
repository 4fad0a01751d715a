package httpserver

// A line is a list of sessions in the order in which they came. A session stands in
// one at most, and holds its place itself: it comes and goes with every request.
type line struct{ first, last *session }

// add puts a session at the end.
func (l *line) add(s *session) {
	s.line, s.before, s.behind = l, l.last, nil
	if l.last == nil {
		l.first = s
	} else {
		l.last.behind = s
	}
	l.last = s
}

// remove takes out a session that stands in the line.
func (l *line) remove(s *session) {
	if s.before == nil {
		l.first = s.behind
	} else {
		s.before.behind = s.behind
	}
	if s.behind == nil {
		l.last = s.before
	} else {
		s.behind.before = s.before
	}
	s.line, s.before, s.behind = nil, nil, nil
}
