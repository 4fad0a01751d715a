package httpwire

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// An Event is one server-sent event.
type Event struct {
	// ID is the event's id; empty when it has none.
	ID string
	// Name is the event's type; empty stands for "message".
	Name string
	// Retry is how long to wait before reconnecting; zero when not said.
	Retry time.Duration
	// Data is the content. An event without data still is an event: it can
	// carry an id.
	Data []byte
}

// WriteEvent appends e to buf. Data with line ends is split into data lines.
func WriteEvent(buf *bytes.Buffer, e Event) {
	buf.Grow(len(e.Data) + len(e.ID) + len(e.Name) + 64)
	BeginEvent(buf, e)
	data := e.Data
	for i := lineEnd(data); i < len(data); i = lineEnd(data) {
		buf.Write(data[:i])
		buf.WriteString("\ndata: ")
		if data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n' {
			i++
		}
		data = data[i+1:]
	}
	buf.Write(data)
	EndEvent(buf)
}

// BeginEvent appends the fields of e and the beginning of its data line to buf.
// The caller appends the data, which must be a single line, and calls EndEvent:
// in this way a message is encoded straight to where it is sent from. The Data
// of e is not used. Ids and names that the format cannot carry are left out.
func BeginEvent(buf *bytes.Buffer, e Event) {
	if e.Name != "" && !strings.ContainsAny(e.Name, "\r\n") {
		buf.WriteString("event: ")
		buf.WriteString(e.Name)
		buf.WriteByte('\n')
	}
	if e.ID != "" && !strings.ContainsAny(e.ID, "\r\n\x00") {
		buf.WriteString("id: ")
		buf.WriteString(e.ID)
		buf.WriteByte('\n')
	}
	if e.Retry > 0 {
		buf.WriteString("retry: ")
		buf.Write(strconv.AppendInt(buf.AvailableBuffer(), e.Retry.Milliseconds(), 10))
		buf.WriteByte('\n')
	}
	buf.WriteString("data: ")
}

// EndEvent ends what BeginEvent began.
func EndEvent(buf *bytes.Buffer) { buf.WriteString("\n\n") }

// KeepAlive is a comment line. Readers skip it; it keeps proxies from taking
// the stream for dead.
const KeepAlive = ":\n\n"
