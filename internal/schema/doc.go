// Package schema compiles, checks and infers JSON Schemas. It is the one place
// that knows the JSON Schema library.
//
// Schemas and values both come from peers, so both are bounded before any work
// is done on them: [Compile] refuses schemas whose size, depth or expansion is
// out of bounds, references that would have to be fetched, and references that
// lead back to themselves without consuming input. [Schema.Validate] refuses
// values that would take too many steps to check. A panic inside the library
// becomes an error.
//
// Schemas without $schema are read as draft 2020-12; drafts 4, 6, 7 and 2019-09
// are honoured when named. "format" is an annotation from 2019-09 on, an
// assertion in the older drafts. Patterns are RE2: lookaheads and back
// references are refused.
//
// Numbers are compared as float64. Integers beyond 2^53 lose precision in
// bounds and enumerations, not in the value handed to the caller.
//
// The package does not apply defaults and does not decode values.
package schema
