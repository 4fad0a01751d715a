package authserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"net/http"
)

// style is that of all pages. It is allowed by its hash; nothing else may be loaded
// or run.
const style = `
:root{color-scheme:light dark;--line:#8886;--edge:#767676;--accent:#0b57d0;--on:#fff;--warn:#b3261e}
@media (prefers-color-scheme:dark){:root{--edge:#8e8e8e;--accent:#a8c7fa;--on:#062e6f;--warn:#f2b8b5}}
body{font:1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:0 auto;padding:2rem 1rem;overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.25}
ul,dl{border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem;margin:1rem 0}
ul{padding-left:2rem}
dt{font-size:.875rem;opacity:.8}
dd{margin:0 0 .5rem;font-weight:600}
dd:last-child{margin:0}
.note{border-left:.25rem solid var(--warn);padding-left:.75rem}
label{display:block;font-weight:600}
input{font:inherit;width:100%;box-sizing:border-box;padding:.5rem;margin:.25rem 0 1rem;border:1px solid var(--edge);border-radius:.25rem}
button{font:inherit;padding:.5rem 1.25rem;margin:0 .5rem .5rem 0;border:1px solid var(--accent);border-radius:.25rem;background:transparent;color:inherit;cursor:pointer}
button.main{background:var(--accent);color:var(--on)}
:focus-visible{outline:.2rem solid var(--accent);outline-offset:.15rem}
`

// policy forbids pages everything but their style, and to be put into frames
// (clickjacking). It does not restrict where forms lead: browsers count the redirect
// after a form as part of it, and that goes to the application.
var policy = func() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; frame-ancestors 'none'; base-uri 'none'"
}()

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"style": func() template.HTML { return "<style>" + style + "</style>" },
}).Parse(`
{{define "head"}}<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.}}</title>
{{style}}
</head>
<body>
<main>
<h1>{{.}}</h1>
{{end}}

{{define "foot"}}</main>
</body>
</html>
{{end}}

{{define "consent"}}{{template "head" "Allow access?"}}
<p><strong>{{.Client}}</strong> wants to use <strong>{{.Resource}}</strong> in your name.</p>
{{if .Verified}}<p>The application is described by <strong>{{.Verified}}</strong>. Its name is what that site says.</p>
{{else if not .Known}}<p>The application has chosen this name itself; nobody has checked it.</p>{{end}}
{{if .Scopes}}<p id="scopes">It wants to:</p>
<ul aria-labelledby="scopes">{{range .Scopes}}
<li>{{.}}</li>{{end}}
</ul>{{end}}
<dl>
{{if .Provider}}<dt>You sign in at</dt><dd>{{.Provider}}</dd>{{else}}<dt>You are signed in as</dt><dd>{{.User}}</dd>{{end}}
<dt>Afterwards you go to</dt><dd>{{.Redirect}}</dd>
</dl>
{{if .Offline}}<p>The application keeps access until you revoke it or the access expires.</p>{{end}}
{{if .Local}}<p class="note" role="note">The answer goes to a program on this device, and it is not certain which one that is.
Allow access only if you have just started this yourself.</p>{{end}}
<form method="post">
<input type="hidden" name="consent" value="{{.Ticket}}">
<button type="submit" name="decision" value="deny">Deny</button>
<button type="submit" name="decision" value="allow" class="main">Allow</button>
</form>
{{template "foot"}}{{end}}

{{define "passphrase"}}{{template "head" "Sign in"}}
<p id="help">An application wants to use <strong>{{.Host}}</strong>. Sign in with the passphrase of this server; whoever has started it knows it.</p>
{{if .Problem}}<p id="problem" class="note" role="alert">{{.Problem}}</p>{{end}}
<form method="post">
<label for="passphrase">Passphrase</label>
<input id="passphrase" name="passphrase" type="password" autocomplete="current-password" required autofocus aria-describedby="{{if .Problem}}problem {{end}}help">
<button type="submit" class="main">Sign in</button>
</form>
{{template "foot"}}{{end}}

{{define "error"}}{{template "head" "This did not work"}}
<p role="alert">{{.Message}}</p>
{{if .Back}}<p>You were sent here by an application that nobody has checked.
You can <a href="{{.Back}}" rel="noreferrer">go back to it</a>, at <strong>{{.BackTo}}</strong>, or close this page.</p>
{{else}}<p>You can close this page.</p>{{end}}
{{template "foot"}}{{end}}
`))

const (
	consentPage    = "consent"
	passphrasePage = "passphrase"
	errorPage      = "error"
)

// errorView is what a page about an error shows.
type errorView struct {
	Message string
	Back    template.URL // of the application's answer, whose scheme was checked; empty for none
	BackTo  string       // where that is
}

func (s *Server) showError(w http.ResponseWriter, status int, message string) {
	s.show(w, status, errorPage, errorView{Message: message})
}

// show answers with a page.
func (s *Server) show(w http.ResponseWriter, status int, name string, view any) {
	var page bytes.Buffer
	if err := pages.ExecuteTemplate(&page, name, view); err != nil {
		s.log.Error("authorization server", "error", err)
		http.Error(w, "this page cannot be shown", http.StatusInternalServerError)
		return
	}
	noStore(w)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // a browser that has gone needs no page
}

// noStore sets the headers of all answers to browsers.
func noStore(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Frame-Options", "DENY")
	header.Set("X-Content-Type-Options", "nosniff")
	// Other sites learn nothing of the request, but forms still say where they are from.
	header.Set("Referrer-Policy", "same-origin")
}
