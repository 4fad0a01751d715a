package main

import "encoding/json"

const sampleText = "test"

// sample returns plausible arguments: a value for each required property, by its
// type, and for each that goes into a header.
func sample(schema json.RawMessage) (map[string]any, error) {
	var s struct {
		Required   []string `json:"required"`
		Properties map[string]struct {
			Type   any `json:"type"`
			Header any `json:"x-mcp-header"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, err
	}
	arguments := map[string]any{}
	for name, property := range s.Properties {
		if property.Header != nil {
			arguments[name] = sampleOf(property.Type)
		}
	}
	for _, name := range s.Required {
		arguments[name] = sampleOf(s.Properties[name].Type)
	}
	return arguments, nil
}

func sampleOf(kind any) any {
	switch kind {
	case "integer", "number":
		return 1
	case "boolean":
		return true
	case "array":
		return []any{}
	case "object":
		return map[string]any{}
	case "null":
		return nil
	default:
		return sampleText
	}
}
