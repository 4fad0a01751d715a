package memory

// ages is the sessions that have events as a heap: the one with the oldest first.
type ages []*session

func (a ages) Len() int           { return len(a) }
func (a ages) Less(i, j int) bool { return a[i].oldest().Before(a[j].oldest()) }

func (a ages) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].place, a[j].place = i, j
}

// Push implements heap.Interface.
func (a *ages) Push(x any) {
	s, _ := x.(*session)
	s.place = len(*a)
	*a = append(*a, s)
}

// Pop implements heap.Interface.
func (a *ages) Pop() any {
	last := len(*a) - 1
	s := (*a)[last]
	(*a)[last] = nil
	*a = (*a)[:last]
	return s
}
