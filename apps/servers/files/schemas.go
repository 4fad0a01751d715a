package files

import "encoding/json"

// Parts of the input schemas.
const (
	pathSchema = `{"type":"string","description":"absolute path inside the allowed folders, or one relative to the first of them"}`
	headTail   = `"tail":{"description":"return only so many last lines","type":"number"},"head":{"description":"return only so many first lines","type":"number"},
		"offset":{"description":"number of the first line to return, from 1","type":"number"},"limit":{"description":"how many lines to return from offset on","type":"number"}`
	excludeSchema   = `{"default":[],"type":"array","items":{"type":"string"},"description":"patterns for what to leave out, such as node_modules or **/*.log"}`
	gitignoreSchema = `{"default":false,"type":"boolean","description":"leave out what .gitignore files say, and .git"}`
)

// arguments describes the arguments of a tool. Others than these are ignored: models
// sometimes add some.
func arguments(properties, required string) json.RawMessage {
	if required != "" {
		required = `,"required":[` + required + `]`
	}
	return json.RawMessage(`{"type":"object","properties":{` + properties + `}` + required + `}`)
}

// inputSchemas are those of the tools, by name.
var inputSchemas = map[string]json.RawMessage{
	"read_file":       arguments(`"path":`+pathSchema+`,`+headTail, `"path"`),
	"read_text_file":  arguments(`"path":`+pathSchema+`,`+headTail, `"path"`),
	"read_media_file": arguments(`"path":`+pathSchema, `"path"`),
	"read_multiple_files": arguments(`"paths":{"minItems":1,"type":"array","items":{"type":"string"},`+
		`"description":"paths of the files, at most 1,000"}`, `"paths"`),
	"write_file": arguments(`"path":`+pathSchema+`,"content":{"type":"string","description":"the whole new content of the file"},`+
		`"createParents":{"default":false,"type":"boolean","description":"make the folders on the way if they are missing"}`, `"path","content"`),
	"edit_file": arguments(`"path":`+pathSchema+`,"edits":{"type":"array","items":{"type":"object","properties":{`+
		`"oldText":{"type":"string","description":"text to replace, as it is in the file; where it occurs several times, the first is replaced"},`+
		`"newText":{"type":"string","description":"text to put in its place"}},"required":["oldText","newText"]},`+
		`"description":"replacements, made one after the other; either all are made or none"},`+
		`"dryRun":{"default":false,"type":"boolean","description":"only show what would change"}`, `"path","edits"`),
	"create_directory": arguments(`"path":`+pathSchema, `"path"`),
	"list_directory":   arguments(`"path":`+pathSchema, `"path"`),
	"list_directory_with_sizes": arguments(`"path":`+pathSchema+`,"sortBy":{"default":"name","type":"string","enum":["name","size"],`+
		`"description":"the order: by name, or the largest first"}`, `"path"`),
	"directory_tree": arguments(`"path":`+pathSchema+`,"excludePatterns":`+excludeSchema+`,"respectGitignore":`+gitignoreSchema, `"path"`),
	"move_file": arguments(`"source":`+pathSchema+`,"destination":{"type":"string","description":"new path; nothing may be there"}`,
		`"source","destination"`),
	"search_files": arguments(`"path":`+pathSchema+`,"pattern":{"type":"string","description":"pattern for paths below that folder: `+
		`* any name, ** any folders, {a,b} a or b; so **/*.go is every Go file"},"excludePatterns":`+excludeSchema+`,"respectGitignore":`+gitignoreSchema, `"path","pattern"`),
	"search_text": arguments(`"path":`+pathSchema+`,"pattern":{"type":"string","description":"regular expression in the syntax of RE2, matched line by line"},`+
		`"ignoreCase":{"default":false,"type":"boolean","description":"take capitals and small letters as the same"},`+
		`"include":{"type":"string","description":"search only files whose name or path matches this pattern, such as *.go"},`+
		`"excludePatterns":`+excludeSchema+`,"respectGitignore":`+gitignoreSchema+`,`+
		`"maxResults":{"type":"number","description":"how many lines to return at most; 200 if not given"}`, `"path","pattern"`),
	"get_file_info":            arguments(`"path":`+pathSchema, `"path"`),
	"list_allowed_directories": arguments("", ""),
}

// contentSchema describes what most tools give: their text, once more.
var contentSchema = json.RawMessage(`{"type":"object","properties":{"content":{"type":"string"}},"required":["content"],"additionalProperties":false}`)

// mediaSchema describes what read_media_file gives.
var mediaSchema = json.RawMessage(`{"type":"object","properties":{"content":{"type":"array","items":{"anyOf":[
	{"type":"object","properties":{"type":{"type":"string","enum":["image","audio"]},"data":{"type":"string"},"mimeType":{"type":"string"}},
		"required":["type","data","mimeType"],"additionalProperties":false},
	{"type":"object","properties":{"type":{"type":"string","const":"resource"},"resource":{"type":"object","properties":{
		"uri":{"type":"string"},"mimeType":{"type":"string"},"blob":{"type":"string"}},"required":["uri","blob"],"additionalProperties":false}},
		"required":["type","resource"],"additionalProperties":false}]}}},"required":["content"],"additionalProperties":false}`)
