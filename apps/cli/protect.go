package cli

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	neturl "net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ferrymcp/ferry/auth"
	"github.com/ferrymcp/ferry/auth/authserver"
)

const (
	// localAuth, in place of an issuer, is the authorization server in this program.
	localAuth     = "local"
	passphraseEnv = "FERRY_PASSPHRASE"
	// minPassphrase is the length of the shortest passphrase that others choose.
	minPassphrase = 12
	// refreshGrace is for clients whose connection breaks while they get new tokens.
	refreshGrace = 10 * time.Second
)

// authFlags say who may use an endpoint.
type authFlags struct {
	issuer     string // empty: everybody who reaches it
	url        string
	passphrase string
	dir        string
}

func (f *authFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.issuer, "auth", "", "let in only who has a token of this `issuer`, a URL, or who signs in here: \"local\"")
	flags.StringVar(&f.url, "url", "", "`URL` at which clients find the endpoint, when it is behind a proxy")
	flags.StringVar(&f.passphrase, "passphrase", "", "what to sign in with (others on this machine can see it here: better set "+passphraseEnv+"); by default one is made up and shown")
	flags.StringVar(&f.dir, "auth-dir", "", "`folder` that keeps who has signed in (default: that of your settings)")
}

// A protection lets nobody in who has no token for the endpoint.
type protection struct {
	resource   *auth.Resource
	local      *authserver.Server // nil when the issuer is elsewhere
	issuer     string
	passphrase string // one that was made up, which has to be shown
}

// protect returns the protection for an endpoint; nil if there is to be none.
func (f *authFlags) protect(e *endpoint, log *slog.Logger) (*protection, error) {
	if f.issuer == "" {
		return nil, nil
	}
	url := e.url()
	if !e.loopback() && e.public == "" {
		refused := usagef("%s can be reached from other machines, which would send their tokens in the clear", e.listener.Addr())
		refused.hint = "Put a proxy with https in front of it, and name the URL it is then at with --url."
		return nil, refused
	}
	p := &protection{issuer: f.issuer}
	var verifier auth.Verifier
	var err error
	if f.issuer == localAuth {
		verifier, err = f.openLocal(p, url, log)
	} else {
		verifier, err = auth.NewJWT(f.issuer, nil)
	}
	if err == nil {
		p.resource, err = auth.New(url, []auth.Verifier{verifier}, &auth.Options{Name: "Ferry", Logger: log})
	}
	if err != nil {
		refused := &usageError{err: err}
		refused.hint = "--auth takes the URL of an issuer of tokens, or " + localAuth +
			"; and --url the https URL of the endpoint, when other machines are to reach it through a proxy."
		return nil, refused
	}
	return p, nil
}

// openLocal opens the authorization server in this program, for the endpoint at a
// URL, and at the same origin.
func (f *authFlags) openLocal(p *protection, url string, log *slog.Logger) (auth.Verifier, error) {
	u, err := neturl.Parse(url)
	if err != nil {
		return nil, err
	}
	passphrase := cmp.Or(f.passphrase, os.Getenv(passphraseEnv))
	switch {
	case passphrase == "":
		passphrase = newPassphrase()
		p.passphrase = passphrase
	case len(passphrase) < minPassphrase:
		return nil, fmt.Errorf("the passphrase is too short to be safe: it must have at least %d characters", minPassphrase)
	}
	key, store, err := f.openStore(u.Host)
	if err != nil {
		return nil, err
	}
	p.issuer = u.Scheme + "://" + u.Host
	p.local, err = authserver.New(authserver.Options{
		Issuer:       p.issuer,
		Resources:    []string{url},
		Passphrase:   passphrase,
		Schemes:      []string{"cursor", "vscode", "vscode-insiders"},
		Key:          key,
		Store:        store,
		RefreshGrace: refreshGrace,
		Logger:       log,
	})
	return p.local, err
}

// newPassphrase makes up a passphrase of 80 bits that can be typed.
func newPassphrase() string {
	text := strings.ToLower(rand.Text())
	return strings.Join([]string{text[:4], text[4:8], text[8:12], text[12:16]}, "-")
}

// openStore opens what is kept for the endpoint at a host: the key, and what it
// encrypts.
func (f *authFlags) openStore(host string) ([]byte, authserver.Store, error) {
	dir := f.dir
	if dir == "" {
		settings, err := os.UserConfigDir()
		if err != nil {
			return nil, nil, err
		}
		dir = filepath.Join(settings, "ferry", "authserver")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	name := filepath.Join(dir, strings.Map(func(r rune) rune {
		if strings.ContainsRune(`:[]%/\`, r) {
			return '_'
		}
		return r
	}, host))
	key, err := os.ReadFile(name + ".key")
	if errors.Is(err, fs.ErrNotExist) {
		key = make([]byte, 32)
		_, _ = rand.Read(key) // never fails
		err = os.WriteFile(name+".key", key, 0o600)
	}
	if err != nil {
		return nil, nil, err
	}
	store, err := authserver.OpenFile(name + ".json")
	return key, store, err
}

// around puts a handler behind the protection.
func (p *protection) around(next http.Handler) http.Handler {
	if p == nil {
		return next
	}
	return p.resource.Handler(next)
}

// mount adds what clients need to get in.
func (p *protection) mount(mux *http.ServeMux, rest http.Handler) {
	if p == nil || p.local == nil {
		mux.Handle("/", rest)
	} else {
		mux.Handle("/", p.local)
	}
	if p != nil {
		mux.Handle(p.resource.MetadataPath(), p.resource.Metadata())
	}
}

// close lets go of what is open.
func (p *protection) close() error {
	if p == nil || p.local == nil {
		return nil
	}
	return p.local.Close()
}

// show says how to get in.
func (p *protection) show(out *console) {
	out.line(plain, "")
	switch {
	case p.local == nil:
		out.line(plain, "Clients are let in with a token for this endpoint from "+p.issuer+".")
	case p.passphrase == "":
		out.line(plain, "Clients have to sign in: a page in the browser asks for your passphrase.")
	default:
		out.line(plain, "Clients have to sign in: a page in the browser asks for the passphrase. It is now")
		out.line(bold, "  "+p.passphrase)
		out.line(plain, "and another one next time, unless you set "+passphraseEnv+". Who has signed in stays so.")
	}
}
