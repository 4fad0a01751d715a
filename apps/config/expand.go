package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// variableName is what a variable may be called.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// missingError tells that a variable has no value.
type missingError struct{ name string }

func (e *missingError) Error() string {
	return fmt.Sprintf("variable %s is not set: set it, or give a default with ${%s:-default}", e.name, e.name)
}

// expand puts values in place of ${NAME}, ${NAME:-default}, ${env:NAME} and
// the names that editors define. $${ stands for a plain ${. A $ that does not
// begin any of these stays as it is.
func (r *reader) expand(s string) (string, error) {
	var b strings.Builder
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			b.WriteString(s)
			return b.String(), nil
		}
		if i > 0 && s[i-1] == '$' {
			b.WriteString(s[:i-1] + "${")
			s = s[i+2:]
			continue
		}
		b.WriteString(s[:i])
		body, rest, closed := strings.Cut(s[i+2:], "}")
		if !closed {
			return "", errors.New("${ without }: write $${ for a plain ${")
		}
		value, err := r.variable(body)
		if err != nil {
			return "", err
		}
		b.WriteString(value)
		s = rest
	}
}

// variable gives the value of what stands between ${ and }.
func (r *reader) variable(body string) (string, error) {
	if value, ok, err := r.editor(body); ok || err != nil {
		return value, err
	}
	name, fallback, hasFallback := strings.Cut(body, ":-")
	name = strings.TrimPrefix(name, "env:")
	if input, ok := strings.CutPrefix(name, "input:"); ok {
		return "", fmt.Errorf("${input:%s} is not supported, nobody is there to be asked: "+
			"set an environment variable and write ${env:NAME}", input)
	}
	if !variableName.MatchString(name) {
		// The body is not quoted: a default in it may be a secret.
		return "", errors.New("${…} holds no name of a variable: " +
			"known are ${NAME}, ${NAME:-default}, ${env:NAME} and ${workspaceFolder}, and $${ is a plain ${")
	}
	if strings.Contains(fallback, "${") {
		return "", fmt.Errorf("the default of ${%s} holds another ${: that is not supported", name)
	}
	value, ok := r.lookup(name)
	switch {
	case ok && (value != "" || !hasFallback):
		return value, nil
	case hasFallback:
		return fallback, nil
	}
	return "", &missingError{name}
}

// editor gives the value of a name that VS Code defines.
func (r *reader) editor(name string) (value string, ok bool, err error) {
	switch name {
	case "workspaceFolder":
		return r.dir, true, nil
	case "workspaceFolderBasename":
		return filepath.Base(r.dir), true, nil
	case "pathSeparator", "/":
		return string(filepath.Separator), true, nil
	case "userHome":
		home, err := os.UserHomeDir()
		return home, true, err
	}
	return "", false, nil
}
