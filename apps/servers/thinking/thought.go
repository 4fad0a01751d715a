package thinking

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A thought is one step, as the model gives it.
type thought struct {
	Text              string
	Number, Total     int64
	NextNeeded        bool
	IsRevision        bool
	RevisesThought    int64 // 0 is none
	BranchFromThought int64 // 0 is none
	BranchID          string
}

// maxInteger is the largest number that all who read JSON read alike.
const maxInteger = 1<<53 - 1

// readThought reads arguments. Models often write numbers and truth values as text,
// so text that means one is taken.
func readThought(raw json.RawMessage) (*thought, error) {
	var in struct {
		Thought           *string         `json:"thought"`
		NextThoughtNeeded json.RawMessage `json:"nextThoughtNeeded"`
		ThoughtNumber     json.RawMessage `json:"thoughtNumber"`
		TotalThoughts     json.RawMessage `json:"totalThoughts"`
		IsRevision        json.RawMessage `json:"isRevision"`
		RevisesThought    json.RawMessage `json:"revisesThought"`
		BranchFromThought json.RawMessage `json:"branchFromThought"`
		BranchID          *string         `json:"branchId"`
		NeedsMoreThoughts json.RawMessage `json:"needsMoreThoughts"`
	}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &in); err != nil {
			if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
				return nil, fmt.Errorf("%s must be text, not %s", wrong.Field, wrong.Value)
			}
			return nil, errors.New("the arguments must be an object with thought, nextThoughtNeeded, thoughtNumber and totalThoughts")
		}
	}
	var r argumentReader
	th := &thought{
		Number:            r.number("thoughtNumber", in.ThoughtNumber, true),
		Total:             r.number("totalThoughts", in.TotalThoughts, true),
		NextNeeded:        r.truth("nextThoughtNeeded", in.NextThoughtNeeded, true),
		IsRevision:        r.truth("isRevision", in.IsRevision, false),
		RevisesThought:    r.number("revisesThought", in.RevisesThought, false),
		BranchFromThought: r.number("branchFromThought", in.BranchFromThought, false),
	}
	r.truth("needsMoreThoughts", in.NeedsMoreThoughts, false)
	if in.Thought == nil {
		r.wrong("thought is missing: give the text of this step")
	} else {
		th.Text = *in.Thought
	}
	if in.BranchID != nil {
		th.BranchID = *in.BranchID
	}
	if len(th.BranchID) > maxBranchID {
		r.wrong(fmt.Sprintf("branchId has over %d bytes: give the branch a short name", maxBranchID))
	}
	th.Total = max(th.Total, th.Number)
	return th, errors.Join(r.problems...)
}

// An argumentReader reads arguments and collects what is wrong with them.
type argumentReader struct{ problems []error }

func (r *argumentReader) wrong(text string) { r.problems = append(r.problems, errors.New(text)) }

// number reads a whole number from 1 on; 0 if it is not there.
func (r *argumentReader) number(name string, raw json.RawMessage, required bool) int64 {
	if len(raw) == 0 {
		if required {
			r.wrong(name + " is missing: give a whole number from 1 on")
		}
		return 0
	}
	text := string(raw)
	if raw[0] == '"' {
		if json.Unmarshal(raw, &text) != nil {
			text = ""
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || n != math.Trunc(n) || n < 1 || n > maxInteger {
		r.wrong(fmt.Sprintf("%s must be a whole number from 1 on, such as 3, not %s", name, shorten(string(raw))))
		return 0
	}
	return int64(n)
}

// truth reads true or false.
func (r *argumentReader) truth(name string, raw json.RawMessage, required bool) bool {
	switch text := strings.ToLower(string(raw)); text {
	case "true", `"true"`:
		return true
	case "false", `"false"`:
		return false
	case "":
		if required {
			r.wrong(name + " is missing: give true or false")
		}
	default:
		r.wrong(fmt.Sprintf("%s must be true or false, not %s", name, shorten(text)))
	}
	return false
}

// shorten shows the beginning of what came.
func shorten(text string) string {
	if len(text) <= 40 {
		return text
	}
	return strings.ToValidUTF8(text[:40], "") + "…"
}
