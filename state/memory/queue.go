package memory

// A queue is a list to whose end is added and from whose beginning is taken.
type queue[T any] struct {
	items []T
	head  int // those before it were taken
}

func (q *queue[T]) len() int { return len(q.items) - q.head }

// all returns what is in the queue, oldest first. It is valid until the next call
// of push or pop.
func (q *queue[T]) all() []T { return q.items[q.head:] }

func (q *queue[T]) first() T { return q.items[q.head] }

func (q *queue[T]) push(item T) {
	if q.head > 0 && len(q.items) == cap(q.items) && q.head >= len(q.items)/2 {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, item)
}

func (q *queue[T]) pop() T {
	var none T
	item := q.items[q.head]
	q.items[q.head] = none
	if q.head++; q.head == len(q.items) {
		*q = queue[T]{} // one that is empty keeps nothing
	}
	return item
}
