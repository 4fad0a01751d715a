package credentials

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// endpointsKey is where the list of endpoints is kept: the files do not show what they
// are for.
const endpointsKey = "endpoints"

// Endpoints returns the URLs that somebody has logged in at, as Remember was told.
func (s *Store) Endpoints(ctx context.Context) ([]string, error) {
	data, err := s.Load(ctx, endpointsKey)
	if err != nil || data == nil {
		return nil, err
	}
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("read the list of logins: %w", err)
	}
	return list, nil
}

// Remember adds an endpoint to the list. A list that cannot be read begins anew.
func (s *Store) Remember(ctx context.Context, endpoint string) error {
	return s.change(ctx, func(list []string) []string {
		if slices.Contains(list, endpoint) {
			return list
		}
		return append(list, endpoint)
	})
}

// Forget takes an endpoint off the list.
func (s *Store) Forget(ctx context.Context, endpoint string) error {
	return s.change(ctx, func(list []string) []string {
		return slices.DeleteFunc(list, func(e string) bool { return e == endpoint })
	})
}

func (s *Store) change(ctx context.Context, change func([]string) []string) error {
	unlock, err := s.Lock(ctx, endpointsKey)
	if err != nil {
		return err
	}
	defer unlock()
	before, err := s.Endpoints(ctx)
	if err != nil {
		before = nil
	}
	after := change(slices.Clone(before))
	if err == nil && slices.Equal(before, after) {
		return nil
	}
	if len(after) == 0 {
		return s.Save(ctx, endpointsKey, nil)
	}
	data, err := json.Marshal(after)
	if err != nil {
		return err
	}
	return s.Save(ctx, endpointsKey, data)
}
