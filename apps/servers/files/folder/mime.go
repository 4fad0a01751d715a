package folder

import (
	"path"
	"strings"
)

// types are MIME types by ending. The system's table is not asked: it differs
// from one machine to the next.
var types = map[string]string{
	".aac": "audio/aac", ".avif": "image/avif", ".bmp": "image/bmp", ".c": "text/x-c", ".cpp": "text/x-c++",
	".css": "text/css", ".csv": "text/csv", ".flac": "audio/flac", ".gif": "image/gif", ".go": "text/x-go",
	".gz": "application/gzip", ".h": "text/x-c", ".htm": "text/html", ".html": "text/html", ".ico": "image/x-icon",
	".java": "text/x-java", ".jpeg": "image/jpeg", ".jpg": "image/jpeg", ".js": "text/javascript", ".json": "application/json",
	".log": "text/plain", ".m4a": "audio/mp4", ".md": "text/markdown", ".mjs": "text/javascript", ".mov": "video/quicktime",
	".mp3": "audio/mpeg", ".mp4": "video/mp4", ".ogg": "audio/ogg", ".opus": "audio/opus", ".pdf": "application/pdf",
	".png": "image/png", ".py": "text/x-python", ".rs": "text/x-rust", ".rtf": "application/rtf", ".sh": "application/x-sh",
	".sql": "application/sql", ".svg": "image/svg+xml", ".tar": "application/x-tar", ".tif": "image/tiff", ".tiff": "image/tiff",
	".toml": "application/toml", ".ts": "text/x-typescript", ".tsv": "text/tab-separated-values", ".txt": "text/plain",
	".wasm": "application/wasm", ".wav": "audio/wav", ".webm": "video/webm", ".webp": "image/webp", ".xml": "application/xml",
	".yaml": "application/yaml", ".yml": "application/yaml", ".zip": "application/zip",
}

// mimeType tells a file's type by its ending, or else whether it is text.
func mimeType(name string, data []byte) string {
	if t, ok := types[strings.ToLower(path.Ext(name))]; ok {
		return t
	}
	if isText(data[:min(len(data), sniffed)], len(data) <= sniffed) {
		return "text/plain"
	}
	return "application/octet-stream"
}
