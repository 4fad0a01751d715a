package graph

import (
	"bytes"
	"encoding/json"
)

// A Document is a file of a graph: one JSON object on each line.
type Document struct {
	Graph
	// Foreign are lines that are neither entity nor relation, or broken. They are
	// kept as they are: somebody may miss them.
	Foreign [][]byte
}

// line is a line of the file, of both kinds.
type line struct {
	Type         string    `json:"type"`
	Name         *string   `json:"name"`
	EntityType   *string   `json:"entityType"`
	Observations []*string `json:"observations"`
	From         *string   `json:"from"`
	To           *string   `json:"to"`
	RelationType *string   `json:"relationType"`
}

// Parse reads a file. There is nothing that it refuses: what is wrong is Foreign.
func Parse(data []byte) Document {
	d := Document{Graph: Graph{Entities: []Entity{}, Relations: []Relation{}}}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	for len(data) > 0 {
		var text []byte
		text, data, _ = bytes.Cut(data, []byte("\n"))
		if text = bytes.TrimSpace(text); len(text) > 0 && !d.read(text) {
			d.Foreign = append(d.Foreign, bytes.Clone(text))
		}
	}
	return d
}

// read reads one line, and reports whether it could.
func (d *Document) read(text []byte) bool {
	var l line
	if json.Unmarshal(text, &l) != nil {
		return false
	}
	switch {
	case l.Type == "entity" && l.Name != nil && l.EntityType != nil && l.Observations != nil:
		e := Entity{Name: *l.Name, EntityType: *l.EntityType, Observations: make([]string, len(l.Observations))}
		for i, o := range l.Observations {
			if o == nil {
				return false
			}
			e.Observations[i] = *o
		}
		d.Entities = append(d.Entities, e)
	case l.Type == "relation" && l.From != nil && l.To != nil && l.RelationType != nil:
		d.Relations = append(d.Relations, Relation{From: *l.From, To: *l.To, RelationType: *l.RelationType})
	default:
		return false
	}
	return true
}

// Append writes the file: entities, relations, and what is foreign, with line ends
// between them.
func (d Document) Append(b []byte) ([]byte, error) {
	out := bytes.NewBuffer(b)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for _, e := range d.Entities {
		err := enc.Encode(struct {
			Type string `json:"type"`
			Entity
		}{"entity", e})
		if err != nil {
			return nil, err
		}
	}
	for _, r := range d.Relations {
		err := enc.Encode(struct {
			Type string `json:"type"`
			Relation
		}{"relation", r})
		if err != nil {
			return nil, err
		}
	}
	for _, text := range d.Foreign {
		out.Write(text)
		out.WriteByte('\n')
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
