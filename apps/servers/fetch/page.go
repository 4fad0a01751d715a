package fetch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"codeberg.org/readeck/go-readability"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"github.com/ferrymcp/ferry/apps/servers/fetch/web"
	"github.com/ferrymcp/ferry/mcp"
)

// Limits bound what one page can cost. Zero values are the defaults.
type Limits struct {
	Bytes     int64         // of a page, decompressed; 10 MiB
	Time      time.Duration // for a page with its redirects; 30 s
	Redirects int           // that are followed; 5
}

// maxNodes is how many elements and texts a page may have to be converted: the
// conversion cannot be interrupted, and of nested ones 40,000 take about a second and
// 80,000 several.
const maxNodes = 50_000

// A document is a page that can be shown: a text, or something attached.
type document struct {
	asked          string // the URL that was asked for, without credentials
	url, mediaType string
	note           string // stands before the text
	text           string
	attachment     *mcp.Content
}

// A kind is what is done with a page.
type kind int

const (
	other kind = iota
	page
	text
	image
	pdf
	unknown // its first bytes tell
)

func kindOf(mediaType string) kind {
	switch mediaType {
	case "", "application/octet-stream", "binary/octet-stream":
		return unknown
	case "text/html", "application/xhtml+xml":
		return page
	case "application/pdf":
		return pdf
	case "application/json", "application/xml", "application/javascript", "application/x-javascript", "application/ecmascript",
		"application/yaml", "application/x-yaml", "application/toml", "application/x-ndjson", "application/sql",
		"application/x-sh", "application/graphql", "image/svg+xml":
		return text
	}
	switch {
	case strings.HasPrefix(mediaType, "text/"), strings.HasSuffix(mediaType, "+json"), strings.HasSuffix(mediaType, "+xml"), strings.HasSuffix(mediaType, "+yaml"):
		return text
	case strings.HasPrefix(mediaType, "image/"):
		return image
	}
	return other
}

// read makes a page readable; raw leaves the source of web pages as it is.
func read(p *web.Page, raw bool) (*document, error) {
	doc := &document{url: p.URL.String(), mediaType: p.MediaType}
	what := kindOf(p.MediaType)
	if what == unknown {
		doc.mediaType, _, _ = strings.Cut(http.DetectContentType(p.Body), ";")
		what = kindOf(doc.mediaType)
	}
	switch what {
	case image:
		doc.attachment = mcp.Ptr(mcp.Image(p.Body, doc.mediaType))
		return doc, nil
	case pdf:
		doc.attachment = mcp.Ptr(mcp.Embed(mcp.BlobResource(doc.url, doc.mediaType, p.Body)))
		return doc, nil
	case other, unknown:
		return nil, fmt.Errorf("%s is not text, nor an image or a PDF document", doc.url)
	}
	source, err := decode(p.Body, p.Type)
	if err != nil {
		return nil, fmt.Errorf("%s is in an encoding that cannot be read: %w", doc.url, err)
	}
	doc.text = source
	switch {
	case raw:
	case what == page:
		doc.text, err = markdown(source, p)
	default:
		doc.note = "Content type " + doc.mediaType + " cannot be simplified to markdown, but here is the raw content:\n"
	}
	return doc, err
}

// decode makes UTF-8 of a text, whatever it is written in.
func decode(body []byte, contentType string) (string, error) {
	if utf8.Valid(body) && !strings.Contains(strings.ToLower(contentType), "charset") {
		return strings.TrimPrefix(string(body), "\ufeff"), nil
	}
	r, err := charset.NewReader(bytes.NewReader(body), contentType)
	if errors.Is(err, io.EOF) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	decoded, err := io.ReadAll(r)
	return strings.ToValidUTF8(string(decoded), "\ufffd"), err
}

// markdown writes what there is to read on a page.
func markdown(source string, p *web.Page) (string, error) {
	tree, err := html.Parse(strings.NewReader(source))
	if err != nil {
		return "", fmt.Errorf("%s nests its elements too deep to be simplified: call again with raw=true for its source", p.URL)
	}
	nodes := 0
	for range tree.Descendants() {
		if nodes++; nodes > maxNodes {
			return "", fmt.Errorf("%s has too many elements to be simplified: call again with raw=true for its source", p.URL)
		}
	}
	conv := converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin(),
	))
	domain := converter.WithDomain(p.URL.Scheme + "://" + p.URL.Host)
	// What is no article, such as a list of links, is shown whole.
	if article, err := readability.FromDocument(tree, p.URL); err == nil && article.Node != nil {
		if out, err := conv.ConvertNode(article.Node, domain); err == nil && len(bytes.TrimSpace(out)) > 0 {
			title := ""
			if t := strings.TrimSpace(article.Title); t != "" && !bytes.HasPrefix(bytes.TrimSpace(out), []byte("# ")) {
				title = "# " + t + "\n\n"
			}
			return title + string(out), nil
		}
	}
	out, err := conv.ConvertNode(tree, domain)
	if err != nil || len(bytes.TrimSpace(out)) == 0 {
		return "<error>Page failed to be simplified from HTML</error>", nil
	}
	return string(out), nil
}
