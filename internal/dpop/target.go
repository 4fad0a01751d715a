package dpop

import (
	"errors"
	"net/url"
	"strings"
)

// canonical returns the form of a URL in which proofs name it: normalized as in
// RFC 3986, sections 6.2.2 and 6.2.3, without query and fragment.
func canonical(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Opaque != "" {
		return "", errors.New("the URL is not one of an HTTP request")
	}
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	switch scheme {
	case "https":
		host = strings.TrimSuffix(host, ":443")
	case "http":
		host = strings.TrimSuffix(host, ":80")
	default:
		return "", errors.New("the URL is not one of an HTTP request")
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	return scheme + "://" + strings.TrimSuffix(host, ":") + normalizeEscapes(path), nil
}

// normalizeEscapes decodes what needs no escape and writes the others in upper case.
func normalizeEscapes(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	var out strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] != '%' || i+2 >= len(path) {
			out.WriteByte(path[i])
			continue
		}
		if c := unhex(path[i+1])<<4 | unhex(path[i+2]); unreserved(c) {
			out.WriteByte(c)
		} else {
			out.WriteString(strings.ToUpper(path[i : i+3]))
		}
		i += 2
	}
	return out.String()
}

// unhex returns the value of a hexadecimal digit, which url.Parse has checked.
func unhex(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	}
	return c - '0'
}

func unreserved(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return c == '-' || c == '.' || c == '_' || c == '~'
}
