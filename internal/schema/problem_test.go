package schema_test

import "testing"

func TestProblems(t *testing.T) {
	t.Parallel()
	tests := []struct{ schema, value, want string }{
		{`{"properties":{"count":{"type":"integer"}}}`, `{"count":"3"}`, `/count: expected integer, got string`},
		{`{"type":["integer","null"]}`, `"3"`, `expected null or integer, got string`},
		{`{"required":["b","a"]}`, `{}`, `missing required properties "a", "b"`},
		{`{"required":["a"]}`, `{}`, `missing required property "a"`},
		{`{"additionalProperties":false}`, `{"x":1}`, `unknown property "x"`},
		{`{"additionalProperties":false}`, `{"y":1,"x":1}`, `unknown properties "x", "y"`},
		{`{"enum":["a","b"]}`, `"c"`, `must be one of "a", "b", got "c"`},
		{`{"enum":[1,2,3,4,5,6,7,8,9,10,11,12,13,14]}`, `0`, `must be one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, …, got 0`},
		{`{"const":{"a":1}}`, `1`, `must be {"a":1}, got 1`},
		{`{"minimum":2}`, `1`, `must be at least 2, got 1`},
		{`{"maximum":2.5}`, `3`, `must be at most 2.5, got 3`},
		{`{"exclusiveMinimum":2}`, `2`, `must be greater than 2, got 2`},
		{`{"exclusiveMaximum":2}`, `2`, `must be less than 2, got 2`},
		{`{"multipleOf":2}`, `3`, `must be a multiple of 2, got 3`},
		{`{"minLength":2}`, `"a"`, `must have at least 2 characters, has 1`},
		{`{"maxLength":1}`, `"ab"`, `must have at most 1 character, has 2`},
		{`{"minItems":1}`, `[]`, `must have at least 1 item, has 0`},
		{`{"maxItems":0}`, `[1]`, `must have at most 0 items, has 1`},
		{`{"minProperties":2}`, `{}`, `must have at least 2 properties, has 0`},
		{`{"maxProperties":1}`, `{"a":1,"b":2}`, `must have at most 1 property, has 2`},
		{`{"pattern":"^a$"}`, `"b"`, `"b" does not match the pattern ^a$`},
		{`{"uniqueItems":true}`, `[1,2,1]`, `items 0 and 2 are equal`},
		{`{"contains":{"type":"string"}}`, `[1]`, `no item matches what the array must contain`},
		{`{"contains":{"type":"string"},"minContains":2}`, `["a"]`, `at least 2 items must match, got 1`},
		{`{"contains":{"type":"string"},"maxContains":1}`, `["a","b"]`, `at most 1 items may match, got 2`},
		{`{"not":{"type":"string"}}`, `"a"`, `matches a form that is not allowed`},
		{`{"properties":{"a":false}}`, `{"a":1}`, `/a: nothing is allowed here`},
		{`{"propertyNames":{"maxLength":1}}`, `{"abc":1}`, `property name "abc" is not allowed`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `missing required property "b", needed because of "a"`},
		{`{"oneOf":[{"type":"integer"},{"minimum":1}]}`, `2`, `matches more than one of the allowed forms, exactly one is wanted`},
		{`{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `true`, `expected integer or string, got boolean`},
		{`{"anyOf":[{"type":"object","required":["a"]},{"type":"null"}]}`, `{}`, `missing required property "a"`},
		{`{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, `matches none of the 2 allowed forms: form 1: missing required property "a", form 2: missing required property "b"`},
		{`{"allOf":[{"minimum":3},{"multipleOf":2}]}`, `1`, `must be a multiple of 2, got 1; must be at least 3, got 1`},
		{`{"items":{"type":"string"}}`, `[1,2,3,4,5,6,7]`, `/0: expected string, got number; /1: expected string, got number; /2: expected string, got number; /3: expected string, got number; /4: expected string, got number; and 2 more`},
		{`{"properties":{"a/b~c":{"type":"string"}}}`, `{"a/b~c":1}`, `/a~1b~0c: expected string, got number`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","format":"email"}`, `"x"`, `is not a valid email`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[true],"additionalItems":false}`, `[1,2,3]`, `has 2 items too many`},
	}
	for _, tt := range tests {
		t.Run(tt.schema, func(t *testing.T) {
			t.Parallel()
			err := compile(t, tt.schema).Validate([]byte(tt.value))
			if err == nil || err.Error() != tt.want {
				t.Errorf("Validate(%s) against %s\n got %v\nwant %s", tt.value, tt.schema, err, tt.want)
			}
		})
	}
}
