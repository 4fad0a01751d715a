package memory

import (
	"encoding/json"
	"strings"
)

// The parts of the schemas, which say that nothing else comes.
const (
	entitySchema = `{"type":"object","properties":{
		"name":{"type":"string","description":"name of the entity"},
		"entityType":{"type":"string","description":"what kind of thing it is"},
		"observations":{"type":"array","items":{"type":"string"},"description":"facts about the entity"}},
		"required":["name","entityType","observations"],"additionalProperties":false}`
	relationSchema = `{"type":"object","properties":{
		"from":{"type":"string","description":"name of the entity where the relation starts"},
		"to":{"type":"string","description":"name of the entity where the relation ends"},
		"relationType":{"type":"string","description":"what connects them"}},
		"required":["from","to","relationType"],"additionalProperties":false}`
	addedSchema = `{"type":"object","properties":{
		"entityName":{"type":"string"},"addedObservations":{"type":"array","items":{"type":"string"}}},
		"required":["entityName","addedObservations"],"additionalProperties":false}`
)

const (
	textSchema     = `{"type":"string"}`
	additionSchema = `{"type":"object","properties":{
		"entityName":{"type":"string","description":"name of an entity that is there"},
		"contents":{"type":"array","items":{"type":"string"},"description":"facts to add, one short sentence each"}},
		"required":["entityName","contents"]}`
	deletionSchema = `{"type":"object","properties":{
		"entityName":{"type":"string","description":"name of the entity"},
		"observations":{"type":"array","items":{"type":"string"},"description":"the facts to forget, word for word"}},
		"required":["entityName","observations"]}`
)

// lenient lets other members be, which models sometimes add.
func lenient(schema json.RawMessage) json.RawMessage {
	return json.RawMessage(strings.ReplaceAll(string(schema), `,"additionalProperties":false`, ""))
}

// inputSchemas are those of the tools, by name.
var inputSchemas = map[string]json.RawMessage{
	"read_graph": json.RawMessage(`{"type":"object","properties":{}}`),
	"search_nodes": json.RawMessage(`{"type":"object","properties":{
		"query":{"type":"string","description":"text to look for in names, types and observations; capitals and small letters are the same"}},
		"required":["query"]}`),
	"open_nodes":          lenient(list([2]string{"names", textSchema})),
	"create_entities":     lenient(list([2]string{"entities", entitySchema})),
	"create_relations":    lenient(list([2]string{"relations", relationSchema})),
	"add_observations":    lenient(list([2]string{"observations", additionSchema})),
	"delete_entities":     lenient(list([2]string{"entityNames", textSchema})),
	"delete_observations": lenient(list([2]string{"deletions", deletionSchema})),
	"delete_relations":    lenient(list([2]string{"relations", relationSchema})),
}

// list describes an object with lists.
func list(members ...[2]string) json.RawMessage {
	properties, required := "", ""
	for i, m := range members {
		if i > 0 {
			properties += ","
			required += ","
		}
		properties += `"` + m[0] + `":{"type":"array","items":` + m[1] + `}`
		required += `"` + m[0] + `"`
	}
	return json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":[` + required + `],"additionalProperties":false}`)
}

var (
	graphSchema   = list([2]string{"entities", entitySchema}, [2]string{"relations", relationSchema})
	successSchema = json.RawMessage(`{"type":"object","properties":{"success":{"type":"boolean"},"message":{"type":"string"}},` +
		`"required":["success","message"],"additionalProperties":false}`)
)

// outputSchemas are those of the tools, by name.
var outputSchemas = map[string]json.RawMessage{
	"read_graph":          graphSchema,
	"search_nodes":        graphSchema,
	"open_nodes":          graphSchema,
	"create_entities":     list([2]string{"entities", entitySchema}),
	"create_relations":    list([2]string{"relations", relationSchema}),
	"add_observations":    list([2]string{"results", addedSchema}),
	"delete_entities":     successSchema,
	"delete_observations": successSchema,
	"delete_relations":    successSchema,
}
