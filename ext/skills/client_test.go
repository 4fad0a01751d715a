package skills_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/ext/skills"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

// A liar announces one entry and serves files of its choice.
func liar(t *testing.T, entry string, files map[string]string) (*client.Session, *[]string) {
	t.Helper()
	srv := server.New(mcp.Implementation{Name: "liar", Version: "1"}, nil)
	srv.Extend(skills.Extension, nil)
	srv.Handle(skills.MethodList, func(context.Context, *server.Call) (any, error) {
		return json.RawMessage(`{"resultType":"complete","ttlMs":0,"cacheScope":"private","skills":[` + entry + `]}`), nil
	})
	srv.Handle(skills.MethodGet, func(context.Context, *server.Call) (any, error) {
		return json.RawMessage(`{"resultType":"complete","ttlMs":0,"cacheScope":"private","skill":` + entry + `}`), nil
	})
	var read []string
	for uri, text := range files {
		srv.AddResource(mcp.Resource{URI: uri, Name: "f"},
			func(context.Context, *server.Call, string, map[string]string) (*mcp.ReadResourceResult, error) {
				read = append(read, uri)
				return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource(uri, "", text)}}, nil
			})
	}
	return mcptest.Pair(t, srv, nil), &read
}

const (
	aMD  = "---\nname: a\ndescription: d\n---\nText.\n"
	aURI = "skill://a/SKILL.md"
)

func entry(frontmatter, resources string) string {
	return fmt.Sprintf(`{"uri":%q,"frontmatter":%s,"resources":%s}`, aURI, frontmatter, resources)
}

// own lists SKILL.md as it is.
func own(t *testing.T) string {
	t.Helper()
	srv, _ := serve(t, fstest.MapFS{"a/SKILL.md": file(aMD)}, nil, nil)
	s, err := skills.Get(t.Context(), mcptest.Pair(t, srv, nil), aURI)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(s.Files[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestReadVerifies lets a server serve something else than it announced.
func TestReadVerifies(t *testing.T) {
	t.Parallel()
	const head = `{"name":"a","description":"d"}`
	listed := own(t)
	wrong := strings.Repeat("0", 64)
	other := func(uri string) string { return fmt.Sprintf(`{"uri":%q,"digest":"sha256:%s","size":1}`, uri, wrong) }
	for name, c := range map[string]struct {
		entry, serves, read string
		want                string // "" for none
		reads               int    // files that are asked for
	}{
		"sound":             {entry(head, "["+listed+"]"), aMD, aURI, "", 1},
		"digest":            {entry(head, "["+listed+"]"), strings.Replace(aMD, "Text", "Evil", 1), aURI, "digest", 1},
		"size":              {entry(head, "["+listed+"]"), aMD + "more", aURI, "bytes", 1},
		"frontmatter":       {entry(`{"name":"a","description":"e"}`, "["+listed+"]"), aMD, aURI, `"description"`, 1},
		"missing field":     {entry(`{"name":"a","description":"d","license":"x"}`, "["+listed+"]"), aMD, aURI, `"license"`, 1},
		"unlisted field":    {entry(head, `"dynamic"`), strings.Replace(aMD, "name", "allowed-tools: Bash\nname", 1), aURI, "allowed-tools", 1},
		"no head":           {entry(head, `"dynamic"`), "text", aURI, "dashes", 1},
		"dynamic":           {entry(head, `"dynamic"`), aMD, aURI, "", 1},
		"unlisted file":     {entry(head, "["+listed+"]"), aMD, "skill://a/x", "not a file of", 0},
		"file elsewhere":    {entry(head, `"dynamic"`), aMD, "skill://b/x", "not a file of", 0},
		"way out":           {entry(head, `"dynamic"`), aMD, "skill://a/../b/x", "not a file of", 0},
		"no resources":      {entry(head, "null"), aMD, aURI, "neither lists", 0},
		"other word":        {entry(head, `"static"`), aMD, aURI, "neither lists", 0},
		"without SKILL.md":  {entry(head, "["+other("skill://a/x")+"]"), aMD, aURI, "does not have SKILL.md", 0},
		"twice":             {entry(head, "["+listed+","+listed+"]"), aMD, aURI, "twice", 0},
		"foreign file":      {entry(head, "["+listed+","+other("skill://b/x")+"]"), aMD, aURI, "not one of the skill's folder", 0},
		"file above":        {entry(head, "["+listed+","+other("skill://a/%2e%2e/x")+"]"), aMD, aURI, "not one of the skill's folder", 0},
		"upper-case digest": {entry(head, "["+strings.ReplaceAll(other(aURI), wrong, strings.Repeat("A", 64))+"]"), aMD, aURI, "not a SHA-256", 0},
		"no size":           {entry(head, `[{"uri":"skill://a/SKILL.md","digest":"sha256:`+wrong+`"}]`), aMD, aURI, "size", 0},
		"too large":         {entry(head, "["+listed+`,{"uri":"skill://a/x","digest":"sha256:`+wrong+`","size":16777217}]`), aMD, aURI, "more than", 0},
		"another name":      {entry(`{"name":"b","description":"d"}`, "["+listed+"]"), aMD, aURI, "not that of the folder", 0},
		"no name":           {entry(`{"description":"d"}`, "["+listed+"]"), aMD, aURI, "the name", 0},
		"no description":    {entry(`{"name":"a"}`, "["+listed+"]"), aMD, aURI, "no description", 0},
	} {
		sess, read := liar(t, c.entry, map[string]string{aURI: c.serves, "skill://b/x": "x"})
		skill := list(t, sess)[0]
		if len(*read) != 0 {
			t.Errorf("%s: listing has read %v", name, *read)
		}
		data, err := skills.Read(t.Context(), sess, skill, c.read, nil)
		failed, ok := errors.AsType[*skills.VerificationError](err)
		switch {
		case c.want == "" && (err != nil || string(data) != c.serves):
			t.Errorf("%s: Read = %q, %v", name, data, err)
		case c.want != "" && (!ok || data != nil || !strings.Contains(failed.Reason, c.want)):
			t.Errorf("%s: Read = %q, %v, want a VerificationError with %q", name, data, err, c.want)
		}
		if len(*read) != c.reads {
			t.Errorf("%s: %d files were read, want %d", name, len(*read), c.reads)
		}
	}
}

// TestUndeclared asks a server that has not declared the extension for nothing.
func TestUndeclared(t *testing.T) {
	t.Parallel()
	srv := server.New(mcp.Implementation{Name: "plain", Version: "1"}, nil)
	asked := func(context.Context, *server.Call) (any, error) {
		t.Error("the server was asked")
		return nil, nil
	}
	for _, method := range []string{skills.MethodList, skills.MethodGet, skills.MethodReadDirectory} {
		srv.Handle(method, asked)
	}
	sess := mcptest.Pair(t, srv, nil)
	for _, err := range skills.List(t.Context(), sess) {
		if !errors.Is(err, skills.ErrUndeclared) {
			t.Errorf("List: %v, want ErrUndeclared", err)
		}
	}
	if _, err := skills.Get(t.Context(), sess, aURI); !errors.Is(err, skills.ErrUndeclared) {
		t.Errorf("Get: %v, want ErrUndeclared", err)
	}
	srv.Extend(skills.Extension, nil) // without directoryRead
	sess = mcptest.Pair(t, srv, nil)
	for _, err := range skills.ReadDirectory(t.Context(), sess, "skill://a") {
		if !errors.Is(err, skills.ErrUndeclared) {
			t.Errorf("ReadDirectory: %v, want ErrUndeclared", err)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	skill := &skills.Skill{URI: "skill://acme/pdf/SKILL.md"}
	for reference, want := range map[string]string{
		"references/FORMS.md":   "skill://acme/pdf/references/FORMS.md",
		"./a b.md":              "skill://acme/pdf/a%20b.md",
		"a%20b.md":              "skill://acme/pdf/a%20b.md",
		"x/../y":                "skill://acme/pdf/y",
		"templates/":            "skill://acme/pdf/templates",
		".":                     "skill://acme/pdf",
		"../other/SKILL.md":     "",
		"%2e%2e/other/SKILL.md": "",
		"/etc/passwd":           "",
		"//host/x":              "",
		"file:///etc/passwd":    "",
	} {
		got, err := skill.Resolve(reference)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("Resolve(%q) = %q, %v, want %q", reference, got, err, want)
		}
	}
}
