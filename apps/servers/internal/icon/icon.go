// Package icon makes the pictures that the servers here show for themselves and
// their tools.
package icon

import (
	"encoding/base64"

	"github.com/ferrymcp/ferry/mcp"
)

// Line makes an icon of lines: path is the data of an SVG path on a square of 24
// by 24, without quotes. The picture is part of its URL.
func Line(path string) []mcp.Icon {
	svg := `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#26c" stroke-width="2"><path d="` + path + `"/></svg>`
	return []mcp.Icon{{
		Src:      "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(svg)),
		MIMEType: "image/svg+xml",
		Sizes:    []string{"any"},
	}}
}
