package authserver

import (
	"cmp"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/ferrymcp/ferry/internal/oauthwire"
)

// pageLife is how long a page may lie open before it is answered.
const pageLife = 15 * time.Minute

// A ticket is in the form of a consent page. It shows that the page was made for
// this browser, this user and this request: another site has no such ticket, and one
// that somebody got for himself is no good in another browser.
type ticket struct {
	Browser string `json:"b"`
	Subject string `json:"s"`
	Request string `json:"q"`
	Expires int64  `json:"e"`
}

const ticketSeal = "ticket"

var errTicket = errors.New("the ticket of the form is not for this request")

func (s *Server) newTicket(w http.ResponseWriter, r *http.Request, subject string) (string, error) {
	return s.vault.seal(ticketSeal, ticket{s.browser(w, r), subject, r.URL.RawQuery, time.Now().Add(pageLife).Unix()})
}

// checkConsent checks the ticket in the form that a user has sent.
func (s *Server) checkConsent(r *http.Request, user User) error {
	var t ticket
	if err := s.vault.open(ticketSeal, r.PostForm.Get("consent"), &t); err != nil {
		return err
	}
	cookie, err := r.Cookie(s.cookieName("browser"))
	if err != nil || cookie.Value != t.Browser || t.Subject != user.Subject || t.Request != r.URL.RawQuery || time.Now().Unix() > t.Expires {
		return errTicket
	}
	return nil
}

// browser returns the name of the browser, which it gets with the first page.
func (s *Server) browser(w http.ResponseWriter, r *http.Request) string {
	if cookie, err := r.Cookie(s.cookieName("browser")); err == nil && len(cookie.Value) >= 26 {
		return cookie.Value
	}
	name := rand.Text()
	s.setCookie(w, "browser", name, 0)
	return name
}

// cookieName returns the full name of a cookie. Over https it has the prefix that
// keeps sites on neighbouring names from setting it.
func (s *Server) cookieName(name string) string {
	if s.secure() {
		return "__Host-ferry-" + name
	}
	return "ferry-" + name
}

func (s *Server) setCookie(w http.ResponseWriter, name, value string, life time.Duration) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // it is not secure on the loopback interface only
		Name: s.cookieName(name), Value: value, Path: "/", MaxAge: int(life.Seconds()),
		Secure: s.secure(), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// consentView is what the consent page shows.
type consentView struct {
	Client   string
	Known    bool   // the operator has configured the client
	Verified string // the host that vouches for the name; empty if none does
	User     string
	Provider string // who signs the user in afterwards; empty if that has happened
	Resource string
	Scopes   []string
	Redirect string // where the user goes afterwards
	Local    bool   // to this device, where any program could wait
	Offline  bool
	Ticket   string
}

// providerName names who signs users in, to them.
func (s *Server) providerName() string {
	if s.provider == nil {
		return ""
	}
	return s.provider.issuer.Host
}

func (s *Server) askConsent(w http.ResponseWriter, r *http.Request, a *authorization, user User) {
	t, err := s.newTicket(w, r, user.Subject)
	if err != nil {
		s.sendError(w, r, a, s.failureOf(r.Context(), err))
		return
	}
	view := consentView{
		Client:   cmp.Or(oauthwire.Printable(a.client.name, maxName), "An application without a name"),
		Known:    a.client.origin == configured,
		User:     cmp.Or(user.Name, user.Subject),
		Provider: s.providerName(),
		Resource: a.resource,
		Redirect: hostOf(a.redirect),
		Local:    a.client.origin != configured && local(a.redirect),
		Offline:  a.offline(),
		Ticket:   t,
	}
	if a.client.origin == documented {
		if u, err := url.Parse(a.client.id); err == nil {
			view.Verified = u.Host
		}
	}
	for _, name := range a.scopes {
		if name != scopeOpenID && name != oauthwire.ScopeOffline {
			view.Scopes = append(view.Scopes, cmp.Or(s.scopes[name].Description, name))
		}
	}
	if slices.Contains(a.scopes, scopeOpenID) {
		view.Scopes = append(view.Scopes, "Know who you are")
	}
	s.show(w, http.StatusOK, consentPage, view)
}
