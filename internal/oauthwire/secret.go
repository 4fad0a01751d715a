package oauthwire

import (
	"fmt"
	"io"
	"log/slog"
)

// A Secret is a token, a password or a code. It goes into JSON as it is, and into
// nothing that is shown: formatting or logging it gives "[hidden]".
type Secret string

const hidden = "[hidden]"

// Format implements fmt.Formatter, for all verbs that ask for it: fmt
// does not for %p.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// String implements fmt.Stringer.
func (Secret) String() string { return hidden }

// LogValue implements slog.LogValuer.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }
