package authserver

import (
	"net/http"
	"time"
)

// loginLife is how long the passphrase is not asked for again.
const loginLife = 12 * time.Hour

// owner is the user who knows the passphrase.
var owner = User{Subject: "owner"}

const loginSeal = "login"

// login finds out who the user is, or answers the request.
func (s *Server) login(w http.ResponseWriter, r *http.Request) (User, bool) {
	if s.opts.Login != nil {
		user, ok := s.opts.Login(w, r)
		if ok && user.Subject == "" {
			s.log.ErrorContext(r.Context(), "authorization server: Login returned a user without a subject")
			s.showError(w, http.StatusInternalServerError, "Signing in went wrong.")
			return User{}, false
		}
		return user, ok
	}
	return s.passphraseLogin(w, r)
}

// passphraseView is what the page that asks for the passphrase shows.
type passphraseView struct {
	Host    string // of this server
	Problem string // with the passphrase before; empty for the first
}

func (s *Server) passphraseLogin(w http.ResponseWriter, r *http.Request) (User, bool) {
	var until int64
	if cookie, err := r.Cookie(s.cookieName("login")); err == nil {
		if s.vault.open(loginSeal, cookie.Value, &until) == nil && time.Now().Unix() < until {
			return owner, true
		}
	}
	if r.Method != http.MethodPost || !r.PostForm.Has("passphrase") {
		s.show(w, http.StatusOK, passphrasePage, passphraseView{Host: s.issuer.Host})
		return User{}, false
	}
	if !s.guesses.allow() {
		w.Header().Set("Retry-After", "30")
		s.show(w, http.StatusTooManyRequests, passphrasePage, passphraseView{s.issuer.Host, "There were too many guesses. Wait half a minute, then try again."})
		return User{}, false
	}
	if !sameSecret(r.PostForm.Get("passphrase"), s.opts.Passphrase) {
		s.log.WarnContext(r.Context(), "authorization server: a wrong passphrase was given", "from", r.RemoteAddr)
		s.show(w, http.StatusForbidden, passphrasePage, passphraseView{s.issuer.Host, "That is not the passphrase. Try again."})
		return User{}, false
	}
	value, err := s.vault.seal(loginSeal, time.Now().Add(loginLife).Unix())
	if err != nil {
		s.showError(w, http.StatusInternalServerError, "Signing in went wrong.")
		return User{}, false
	}
	s.setCookie(w, "login", value, loginLife)
	http.Redirect(w, r, r.URL.RequestURI(), http.StatusSeeOther) //nolint:gosec // its path is that of the route
	return User{}, false
}
