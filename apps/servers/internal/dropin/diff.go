package dropin

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// absent stands for a member that is not there.
type absent struct{}

// A found difference.
type found struct {
	path         string
	theirs, ours any
}

// diff finds where two values differ, as deep as it can.
func diff(path string, theirs, ours any) []found {
	if reflect.DeepEqual(theirs, ours) {
		return nil
	}
	a, isA := members(theirs)
	b, isB := members(ours)
	if !isA || !isB {
		return []found{{path, theirs, ours}}
	}
	names := slices.Sorted(maps.Keys(a))
	for name := range b {
		if _, both := a[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var list []found
	for _, name := range names {
		x, ok := a[name]
		if !ok {
			x = absent{}
		}
		y, ok := b[name]
		if !ok {
			y = absent{}
		}
		list = append(list, diff(path+"/"+name, x, y)...)
	}
	return list
}

// members are those of an object, or the elements of an array by number.
func members(v any) (map[string]any, bool) {
	switch v := v.(type) {
	case map[string]any:
		return v, true
	case []any:
		m := map[string]any{}
		for i, element := range v {
			m[strconv.Itoa(i)] = element
		}
		return m, true
	}
	return nil, false
}

// replaced is a value with all its texts changed.
func replaced(v any, r *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		return r.Replace(v)
	case []any:
		for i := range v {
			v[i] = replaced(v[i], r)
		}
	case map[string]any:
		for name := range v {
			v[name] = replaced(v[name], r)
		}
	}
	return v
}

// show is a value for people.
func show(v any) string {
	if _, ok := v.(absent); ok {
		return "(not there)"
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	if len(data) > 2000 {
		return string(data[:2000]) + "…"
	}
	return string(data)
}
