package skills

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/ferrymcp/ferry/mcp"
)

// Extension identifies the extension in capabilities.
const Extension = "io.modelcontextprotocol/skills"

// The methods of the extension.
const (
	MethodList          = "skills/list"
	MethodGet           = "skills/get"
	MethodReadDirectory = "resources/directory/read"
)

// The bounds of a skill that every host supports. Servers here serve no larger
// ones, and clients here load none.
const (
	MaxFiles = 512
	MaxBytes = 16 << 20
)

// manifest is the file that makes a folder a skill.
const manifest = "SKILL.md"

// Settings are what a server declares with the extension.
type Settings struct {
	// DirectoryRead tells that folders can be listed with ReadDirectory.
	DirectoryRead bool `json:"directoryRead,omitzero"`
}

// Declared returns the settings of a server that has declared the extension, and
// false for one that has not.
func Declared(caps mcp.ServerCapabilities) (Settings, bool) {
	raw, ok := caps.Extensions[Extension]
	if !ok {
		return Settings{}, false
	}
	var s Settings
	if json.Unmarshal(raw, &s) != nil {
		return Settings{}, true // settings that are wrong settle nothing
	}
	return s, true
}

// A Skill is the entry of a skill: what it is about, and all files it has.
type Skill struct {
	// URI is the resource of its SKILL.md.
	URI string `json:"uri"`
	// Frontmatter is the head of SKILL.md as JSON values, all of it. It has a
	// name and a description.
	Frontmatter map[string]any `json:"frontmatter"`
	// Files are all files with their digests. A skill that is made when it is
	// asked for has none, see Dynamic.
	Files []File `json:"-"`
	// Dynamic tells that the contents of the skill change, so that they cannot
	// be verified. Hosts may refuse such skills.
	Dynamic bool `json:"-"`

	wrong error // what is wrong with the resources as they came
}

// A File is one file of a skill.
type File struct {
	// URI is the resource of the file.
	URI string `json:"uri"`
	// Digest is "sha256:" and the SHA-256 of its bytes in lower-case hexadecimal.
	Digest string `json:"digest"`
	// Size is its length in bytes.
	Size int64 `json:"size"`
}

// Name returns the name of the skill, a label that other skills may have too.
func (s *Skill) Name() string { return s.text("name") }

// Description returns what the skill is for.
func (s *Skill) Description() string { return s.text("description") }

func (s *Skill) text(key string) string {
	text, _ := s.Frontmatter[key].(string)
	return text
}

// Root returns the URI of the skill's folder, without a slash at the end.
func (s *Skill) Root() string { return strings.TrimSuffix(s.URI, "/"+manifest) }

// Resolve returns the URI that a relative reference in the skill's files stands
// for, such as "references/FORMS.md". References are relative to the skill's
// folder and do not leave it.
func (s *Skill) Resolve(reference string) (string, error) {
	ref, err := url.Parse(reference)
	if err != nil || ref.IsAbs() || ref.Host != "" || strings.HasPrefix(reference, "/") {
		return "", fmt.Errorf("resolve %q in %s: not a relative reference", reference, s.URI)
	}
	clean := path.Clean(ref.Path)
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return "", fmt.Errorf("resolve %q in %s: leaves the skill", reference, s.URI)
	}
	if clean == "." {
		return s.Root(), nil
	}
	return s.Root() + "/" + escape(clean), nil
}

// Check returns what makes the entry unfit to be loaded: a name that is not that
// of its folder, a list of files that is incomplete, malformed or too long, or
// files elsewhere. It reads nothing.
func (s *Skill) Check() error {
	if err := s.check(); err != nil {
		return &VerificationError{URI: s.URI, Reason: err.Error()}
	}
	return nil
}

func (s *Skill) check() error {
	if s.wrong != nil {
		return s.wrong
	}
	root, ok := strings.CutSuffix(s.URI, "/"+manifest)
	if !ok {
		return errors.New("the URI does not end in /" + manifest)
	}
	if err := checkName(s.Name()); err != nil {
		return err
	}
	if path.Base(root) != s.Name() {
		return fmt.Errorf("the name %q is not that of the folder", s.Name())
	}
	if s.Description() == "" {
		return errors.New("there is no description")
	}
	if s.Dynamic {
		return nil
	}
	return s.checkFiles(root + "/")
}

func (s *Skill) checkFiles(root string) error {
	if len(s.Files) > MaxFiles {
		return fmt.Errorf("%d files, and %d is the limit", len(s.Files), MaxFiles)
	}
	var total int64
	seen := make(map[string]bool, len(s.Files))
	for _, f := range s.Files {
		switch {
		case seen[f.URI]:
			return fmt.Errorf("the file %s is listed twice", f.URI)
		case !strings.HasPrefix(f.URI, root) || leaves(f.URI[len(root):]):
			return fmt.Errorf("the file %s is not one of the skill's folder", f.URI)
		case !isDigest(f.Digest):
			return fmt.Errorf("the digest of %s is not a SHA-256", f.URI)
		case f.Size < 0:
			return fmt.Errorf("the size of %s is negative", f.URI)
		}
		seen[f.URI] = true
		if total += f.Size; total > MaxBytes || total < 0 {
			return fmt.Errorf("more than %d bytes", MaxBytes)
		}
	}
	if !seen[s.URI] {
		return errors.New("the list of files does not have " + manifest)
	}
	return nil
}

// find returns the file with the URI.
func (s *Skill) find(uri string) (File, bool) {
	for _, f := range s.Files {
		if f.URI == uri {
			return f, true
		}
	}
	return File{}, false
}

// leaves reports whether a path, escaped or not, is no plain way downwards.
func leaves(p string) bool {
	decoded, err := url.PathUnescape(p)
	if err != nil || strings.ContainsAny(p, "?#") {
		return true
	}
	for segment := range strings.SplitSeq(decoded, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// checkName says what is wrong with the name of a skill.
func checkName(name string) error {
	ok := len(name) >= 1 && len(name) <= 64 && !strings.Contains(name, "--") &&
		name[0] != '-' && name[len(name)-1] != '-'
	for i := range len(name) {
		c := name[i]
		ok = ok && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-')
	}
	if !ok {
		return fmt.Errorf("the name %q is not 1 to 64 of a-z, 0-9 and single hyphens in between", name)
	}
	return nil
}

const digestPrefix = "sha256:"

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return digestPrefix + hex.EncodeToString(sum[:])
}

func isDigest(text string) bool {
	digits, ok := strings.CutPrefix(text, digestPrefix)
	if !ok || len(digits) != 2*sha256.Size {
		return false
	}
	return strings.Trim(digits, "0123456789abcdef") == ""
}

// escape makes a path part of a URI.
func escape(p string) string {
	segments := strings.Split(p, "/")
	for i, segment := range segments {
		segments[i] = url.PathEscape(segment)
	}
	return strings.Join(segments, "/")
}

// dynamic stands for the list of files of a skill without a fixed one.
const dynamic = "dynamic"

// MarshalJSON writes the entry as the extension defines it.
func (s Skill) MarshalJSON() ([]byte, error) {
	type fields Skill
	w := struct {
		fields

		Resources any `json:"resources"`
	}{fields: fields(s), Resources: dynamic}
	if !s.Dynamic {
		w.Resources = append([]File{}, s.Files...)
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads an entry. One whose list of files is malformed is read
// nevertheless, so that the others of a list are not lost: Check reports it.
func (s *Skill) UnmarshalJSON(data []byte) error {
	type fields Skill
	var w struct {
		fields

		Resources json.RawMessage `json:"resources"`
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*s = Skill(w.fields)
	switch {
	case string(w.Resources) == `"`+dynamic+`"`:
		s.Dynamic = true
	case len(w.Resources) == 0 || w.Resources[0] != '[':
		s.wrong = errors.New("it neither lists its files nor is dynamic")
	default:
		s.readFiles(w.Resources)
	}
	return nil
}

func (s *Skill) readFiles(raw json.RawMessage) {
	var files []struct {
		URI    string `json:"uri"`
		Digest string `json:"digest"`
		Size   *int64 `json:"size"`
	}
	if err := json.Unmarshal(raw, &files); err != nil {
		s.wrong = fmt.Errorf("its list of files: %w", err)
		return
	}
	for _, f := range files {
		if f.Size == nil {
			s.wrong = fmt.Errorf("the size of %s is missing", f.URI)
			return
		}
		s.Files = append(s.Files, File{f.URI, f.Digest, *f.Size})
	}
}
