package jsonrpc

// A BatchItem is one member of a batch: a message, or an error as [Decode]
// returns it, with what is known of the message.
type BatchItem struct {
	Message
	Err error
}

// IsBatch reports whether frame is a batch, if it is anything: whether its
// first character is an opening square bracket.
func IsBatch(frame []byte) bool {
	for _, c := range frame {
		switch c {
		case ' ', '\n', '\r', '\t':
		default:
			return c == '['
		}
	}
	return false
}

// DecodeBatch reads a batch under the default limits. See [Limits.DecodeBatch].
func DecodeBatch(frame []byte) ([]BatchItem, error) { return Limits{}.DecodeBatch(frame) }

// DecodeBatch reads the messages of a batch, which refer to frame afterwards.
// A member that is JSON but not a message has an error of its own. When frame
// as a whole cannot be used, because it is not JSON, not an array, empty or
// too long, there are no items and the error is an *Error.
func (l Limits) DecodeBatch(frame []byte) ([]BatchItem, error) {
	var s scanner
	if err := l.start(&s, frame); err != nil {
		return nil, err
	}
	limit := l.Batch
	if limit <= 0 {
		limit = defaultBatch
	}
	start := s.space(0)
	if s.peek(start) != '[' {
		return nil, invalid(start, "batch must be an array")
	}
	var items []BatchItem
	for i := s.space(s.enter(start)); ; {
		if len(items) == 0 && s.peek(i) == ']' {
			return nil, s.endBatch(i+1, invalid(start, "batch is empty"))
		}
		if len(items) == limit {
			return nil, Errorf(CodeInvalidRequest, "invalid request: batch of more than %d messages", limit)
		}
		item, end := s.batchItem(i)
		if end < 0 {
			return nil, Errorf(CodeParse, "parse error: %s", s.fault())
		}
		items = append(items, item)
		i = s.space(end)
		switch s.peek(i) {
		case ',':
			i = s.space(i + 1)
		case ']':
			if err := s.endBatch(i+1, nil); err != nil {
				return nil, err
			}
			return items, nil
		default:
			s.fail(i, "want ',' or ']'")
			return nil, Errorf(CodeParse, "parse error: %s", s.fault())
		}
	}
}

func (s *scanner) batchItem(i int) (BatchItem, int) {
	var item BatchItem
	if s.peek(i) != '{' {
		end := s.value(i)
		item.Err = invalid(i, "message must be an object")
		return item, end
	}
	var env envelope
	end := s.object(i, &env)
	if end >= 0 {
		item.Message, item.Err = env.message(s.data)
	}
	return item, end
}

// endBatch returns the error of a batch that ends at i: something following
// it, or else err.
func (s *scanner) endBatch(i int, err error) error {
	if i = s.space(i); i < len(s.data) {
		s.fail(i, "unexpected data after the batch")
		return Errorf(CodeParse, "parse error: %s", s.fault())
	}
	return err
}
