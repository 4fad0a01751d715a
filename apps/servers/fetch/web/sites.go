package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/ferrymcp/ferry/apps/servers/fetch/robots"
)

const (
	maxSites           = 256
	maxRobotsRedirects = 5
	robotsTTL          = time.Hour
)

// sites are what the robots.txt of sites say, for a while.
type sites struct {
	mu    sync.Mutex
	rules map[string]site
}

type site struct {
	rules *robots.Rules
	until time.Time
}

// allowed asks the robots.txt of a page's site, if it is to be asked.
func (c *Client) allowed(ctx context.Context, r *Request, u *url.URL) error {
	if !r.Robots {
		return nil
	}
	at := &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/robots.txt"}
	k := key(at, r.Agent)
	c.sites.mu.Lock()
	s, ok := c.sites.rules[k]
	c.sites.mu.Unlock()
	if !ok || time.Now().After(s.until) {
		rules, err := c.robots(ctx, r.Agent, at)
		if err != nil {
			return err
		}
		s = site{rules, time.Now().Add(robotsTTL)}
		c.sites.put(k, s)
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if u.RawQuery != "" || u.ForceQuery {
		path += "?" + u.RawQuery
	}
	if s.rules.Allows(path) {
		return nil
	}
	return fmt.Errorf("%s does not allow programs to fetch %s on their own (asked as %q); the user can fetch it with the prompt fetch of this server",
		at, u.Redacted(), robots.Token(r.Agent))
}

func (s *sites) put(key string, v site) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rules == nil {
		s.rules = map[string]site{}
	}
	for old := range s.rules {
		if len(s.rules) < maxSites {
			break
		}
		delete(s.rules, old)
	}
	s.rules[key] = v
}

// robots gets a robots.txt. One that is not there allows everything, and a site that
// cannot tell allows nothing (RFC 9309 section 2.3.1).
func (c *Client) robots(ctx context.Context, agent string, u *url.URL) (*robots.Rules, error) {
	at := u
	for range maxRobotsRedirects + 1 {
		resp, err := c.send(ctx, agent, u, nil)
		if err != nil {
			return nil, fmt.Errorf("robots.txt has to be read first: %w", c.explain(u, err))
		}
		status, location := resp.StatusCode, resp.Header.Get("Location")
		var body []byte
		if status >= 200 && status <= 299 {
			body, err = io.ReadAll(io.LimitReader(resp.Body, robots.MaxBytes))
		}
		_ = resp.Body.Close()
		switch {
		case err != nil:
			return nil, fmt.Errorf("robots.txt has to be read first: %w", c.explain(u, err))
		case status >= 200 && status <= 299:
			return robots.Parse(body, agent), nil
		case isRedirect(status) && location != "":
			next, err := u.Parse(location)
			if err != nil || check(next) != nil {
				return nil, nil
			}
			next.User = nil
			u = next
		case status >= http.StatusInternalServerError:
			return nil, fmt.Errorf("%s answers with status code %d, which programs have to take for a no; the user can fetch the page with the prompt fetch of this server", at, status)
		default:
			return nil, nil
		}
	}
	return nil, nil
}
