package skills_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/client"
	"github.com/ferrymcp/ferry/ext/skills"
	"github.com/ferrymcp/ferry/jsonrpc"
	"github.com/ferrymcp/ferry/mcp"
	"github.com/ferrymcp/ferry/mcptest"
	"github.com/ferrymcp/ferry/server"
)

func TestMain(m *testing.M) { mcptest.Main(m) }

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

const (
	pdfMD     = "---\nname: pdf\ndescription: Fill in PDFs\nmetadata:\n  version: 1\n---\n\n# PDFs\n"
	innerMD   = "---\nname: inner\ndescription: Inside of another\n---\nText.\n"
	refundsMD = "---\nname: refunds\ndescription: Pay back\n---\n"
)

// folder has a skill with folders and a skill inside, and one that is nested.
func folder() fstest.MapFS {
	return fstest.MapFS{
		"pdf/SKILL.md":               file(pdfMD),
		"pdf/templates/a b.md":       file("# Template\n"),
		"pdf/templates/eu/logo.bin":  file("\xff\x00"),
		"pdf/empty":                  {Mode: fs.ModeDir},
		"pdf/parts/inner/SKILL.md":   file(innerMD),
		"billing/refunds/SKILL.md":   file(refundsMD),
		"billing/refunds/script.py":  file("print(1)\n"),
		"billing/no skill/notes.txt": file("left out\n"),
	}
}

func serve(t *testing.T, fsys fs.FS, opts *skills.Options, sopts *server.Options) (*server.Server, *skills.Served) {
	t.Helper()
	srv := server.New(mcp.Implementation{Name: "skilled", Version: "1"}, sopts)
	served, err := skills.Serve(srv, fsys, opts)
	if err != nil {
		t.Fatal(err)
	}
	return srv, served
}

func list(t *testing.T, sess *client.Session) []*skills.Skill {
	t.Helper()
	var all []*skills.Skill
	for skill, err := range skills.List(t.Context(), sess) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, skill)
	}
	return all
}

func uris(all []*skills.Skill) (out []string) {
	for _, s := range all {
		out = append(out, s.URI)
	}
	return out
}

// TestServeAndRead lists skills page by page, and reads and verifies every file.
func TestServeAndRead(t *testing.T) {
	t.Parallel()
	mcptest.Matrix(t, func() *server.Server {
		srv := server.New(mcp.Implementation{Name: "skilled", Version: "1"}, nil)
		if _, err := skills.Serve(srv, folder(), &skills.Options{PageSize: 1}); err != nil {
			panic(err)
		}
		return srv
	}, func(t *testing.T, sess *client.Session) {
		if _, ok := skills.Declared(sess.ServerCapabilities()); !ok {
			t.Skip("the revision has no extensions")
		}
		all := list(t, sess)
		want := []string{"skill://billing/refunds/SKILL.md", "skill://pdf/SKILL.md", "skill://pdf/parts/inner/SKILL.md"}
		if diff := cmp.Diff(want, uris(all)); diff != "" {
			t.Fatalf("skills (-want +got):\n%s", diff)
		}
		read := map[string]string{}
		for _, s := range all {
			one, err := skills.Get(t.Context(), sess, s.URI)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(s, one, cmp.AllowUnexported(skills.Skill{})); diff != "" {
				t.Errorf("Get(%s) differs from the list:\n%s", s.URI, diff)
			}
			for _, f := range s.Files {
				data, err := skills.Read(t.Context(), sess, one, f.URI, nil)
				if err != nil {
					t.Fatal(err)
				}
				read[f.URI] = string(data)
			}
		}
		wantRead := map[string]string{
			"skill://billing/refunds/SKILL.md":  refundsMD,
			"skill://billing/refunds/script.py": "print(1)\n",
			"skill://pdf/SKILL.md":              pdfMD,
			"skill://pdf/templates/a%20b.md":    "# Template\n",
			"skill://pdf/templates/eu/logo.bin": "\xff\x00",
			"skill://pdf/parts/inner/SKILL.md":  innerMD,
		}
		if diff := cmp.Diff(wantRead, read); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
		if all[1].Name() != "pdf" || all[1].Description() != "Fill in PDFs" {
			t.Errorf("skill = %q, %q", all[1].Name(), all[1].Description())
		}
		_, err := skills.Get(t.Context(), sess, "skill://pdf/templates/a%20b.md")
		wantCode(t, err, jsonrpc.CodeInvalidParams)
	})
}

func wantCode(t *testing.T, err error, code int) {
	t.Helper()
	if e, ok := errors.AsType[*jsonrpc.Error](err); !ok || e.Code != code {
		t.Errorf("error = %v, want one with code %d", err, code)
	}
}

func TestResourcesDescribeTheFiles(t *testing.T) {
	t.Parallel()
	srv, _ := serve(t, folder(), nil, nil)
	sess := mcptest.Pair(t, srv, nil)
	got := map[string]string{}
	for r, err := range sess.Resources(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got[r.URI] = r.Name + ", " + r.Description + ", " + r.MIMEType
	}
	want := map[string]string{
		"skill://billing/refunds/SKILL.md":  "refunds, Pay back, text/markdown",
		"skill://billing/refunds/script.py": "script.py, , text/x-python",
		"skill://pdf/SKILL.md":              "pdf, Fill in PDFs, text/markdown",
		"skill://pdf/parts/inner/SKILL.md":  "inner, Inside of another, text/markdown",
		"skill://pdf/templates/a%20b.md":    "a b.md, , text/markdown",
		"skill://pdf/templates/eu/logo.bin": "logo.bin, , application/octet-stream",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
}

func TestReadDirectory(t *testing.T) {
	t.Parallel()
	srv, _ := serve(t, folder(), &skills.Options{PageSize: 2, Prefix: "acme"}, nil)
	sess := mcptest.Pair(t, srv, nil)
	for folder, want := range map[string][]string{
		"skill://acme/pdf": {
			"skill://acme/pdf/SKILL.md", "skill://acme/pdf/empty inode/directory",
			"skill://acme/pdf/parts inode/directory", "skill://acme/pdf/templates inode/directory",
		},
		"skill://acme/pdf/templates": {"skill://acme/pdf/templates/a%20b.md", "skill://acme/pdf/templates/eu inode/directory"},
		"skill://acme/pdf/empty":     nil,
		"skill://acme/pdf/parts":     {"skill://acme/pdf/parts/inner inode/directory"},
	} {
		var got []string
		for r, err := range skills.ReadDirectory(t.Context(), sess, folder) {
			if err != nil {
				t.Fatal(err)
			}
			text := r.URI
			if r.MIMEType == "inode/directory" {
				text += " " + r.MIMEType
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", folder, diff)
		}
	}
	for _, uri := range []string{
		"skill://acme/pdf/SKILL.md", "skill://acme/pdf/", "skill://acme/billing", "skill://acme", "skill:/", "", "x",
	} {
		for _, err := range skills.ReadDirectory(t.Context(), sess, uri) {
			wantCode(t, err, jsonrpc.CodeInvalidParams)
		}
	}
	for _, method := range []string{skills.MethodList, skills.MethodReadDirectory} {
		_, err := sess.Call(t.Context(), method, map[string]string{"uri": "skill://acme/pdf", "cursor": "?"}, nil)
		wantCode(t, err, jsonrpc.CodeInvalidParams)
	}
}

func TestServeRefuses(t *testing.T) {
	t.Parallel()
	many := fstest.MapFS{"a/SKILL.md": file("---\nname: a\ndescription: d\n---\n")}
	for i := range skills.MaxFiles {
		many["a/"+strings.Repeat("x", i+1)] = file("")
	}
	for name, c := range map[string]struct {
		fsys fs.FS
		want string
	}{
		"other name":     {fstest.MapFS{"a/SKILL.md": file("---\nname: b\ndescription: d\n---\n")}, `skill a: the name "b" is not that of the folder`},
		"bad name":       {fstest.MapFS{"A/SKILL.md": file("---\nname: A\ndescription: d\n---\n")}, `the name "A" is not`},
		"hyphens":        {fstest.MapFS{"a--b/SKILL.md": file("---\nname: a--b\ndescription: d\n---\n")}, `the name "a--b" is not`},
		"no description": {fstest.MapFS{"a/SKILL.md": file("---\nname: a\n---\n")}, "no description"},
		"no frontmatter": {fstest.MapFS{"a/SKILL.md": file("# A\n")}, "three dashes"},
		"no end":         {fstest.MapFS{"a/SKILL.md": file("---\nname: a\n")}, "does not end"},
		"bad yaml":       {fstest.MapFS{"a/SKILL.md": file("---\nname: [\n---\n")}, "yaml: line 1"},
		"no folder":      {fstest.MapFS{"SKILL.md": file(pdfMD)}, "a folder of its own"},
		"link":           {fstest.MapFS{"a/SKILL.md": many["a/SKILL.md"], "a/l": {Mode: fs.ModeSymlink, Data: []byte("x")}}, "a/l is not a plain file"},
		"many":           {many, "more than 512 files"},
		"large":          {fstest.MapFS{"a/SKILL.md": many["a/SKILL.md"], "a/l": {Data: make([]byte, skills.MaxBytes)}}, "bytes"},
	} {
		srv := server.New(mcp.Implementation{Name: "skilled", Version: "1"}, nil)
		if _, err := skills.Serve(srv, c.fsys, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Serve: %v, want an error with %q", name, err, c.want)
		}
		if caps := mcptest.Pair(t, srv, nil).ServerCapabilities(); caps.Extensions != nil {
			t.Errorf("%s: the extension is declared", name)
		}
	}
}

// TestReload changes the folder: entries, files and the resources follow.
func TestReload(t *testing.T) {
	t.Parallel()
	fsys := folder()
	srv, served := serve(t, fsys, nil, nil)
	sess := mcptest.Pair(t, srv, nil)
	old, err := skills.Get(t.Context(), sess, "skill://pdf/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	fsys["pdf/templates/a b.md"] = file("# Changed!\n")
	fsys["new/SKILL.md"] = file("---\nname: new\ndescription: d\n---\n")
	delete(fsys, "billing/refunds/SKILL.md")
	delete(fsys, "billing/refunds/script.py")
	if err := served.Reload(); err != nil {
		t.Fatal(err)
	}
	want := []string{"skill://new/SKILL.md", "skill://pdf/SKILL.md", "skill://pdf/parts/inner/SKILL.md"}
	if diff := cmp.Diff(want, uris(list(t, sess))); diff != "" {
		t.Errorf("skills (-want +got):\n%s", diff)
	}
	_, err = skills.Read(t.Context(), sess, old, "skill://pdf/templates/a%20b.md", nil)
	if _, ok := errors.AsType[*skills.VerificationError](err); !ok {
		t.Errorf("Read of a changed file under the old entry: %v, want a VerificationError", err)
	}
	_, err = sess.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "skill://billing/refunds/SKILL.md"}, nil)
	if err == nil {
		t.Error("a removed file can be read")
	}
	fsys["new/SKILL.md"] = file("broken")
	if err := served.Reload(); err == nil {
		t.Error("Reload of a broken skill gave no error")
	}
	if diff := cmp.Diff(want, uris(list(t, sess))); diff != "" {
		t.Errorf("skills after a failed Reload (-want +got):\n%s", diff)
	}
}

// TestViewHides hides one skill from everybody, in every way there is.
func TestViewHides(t *testing.T) {
	t.Parallel()
	view := &server.View{Resource: func(uri string) bool { return !strings.HasPrefix(uri, "skill://pdf") }}
	srv, _ := serve(t, folder(), nil, &server.Options{
		View: func(context.Context, *server.Call) *server.View { return view },
	})
	sess := mcptest.Pair(t, srv, nil)
	if diff := cmp.Diff([]string{"skill://billing/refunds/SKILL.md"}, uris(list(t, sess))); diff != "" {
		t.Errorf("skills (-want +got):\n%s", diff)
	}
	_, err := skills.Get(t.Context(), sess, "skill://pdf/SKILL.md")
	wantCode(t, err, jsonrpc.CodeInvalidParams)
	for _, err := range skills.ReadDirectory(t.Context(), sess, "skill://pdf") {
		wantCode(t, err, jsonrpc.CodeInvalidParams)
	}
}
