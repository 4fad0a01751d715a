package oauthwire_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrymcp/ferry/internal/oauthwire"
	"github.com/ferrymcp/ferry/mcptest"
)

func bearer(params ...string) oauthwire.Challenge {
	c := oauthwire.Challenge{Scheme: "Bearer"}
	for i := 0; i < len(params); i += 2 {
		c.Params = append(c.Params, oauthwire.Param{Name: params[i], Value: params[i+1]})
	}
	return c
}

func TestParseChallenges(t *testing.T) {
	t.Parallel()
	mcptest.Proves(t, "AUTH-WWW-AUTHENTICATE-PARSE")
	type challenges = []oauthwire.Challenge
	basic := oauthwire.Challenge{Scheme: "Basic", Params: []oauthwire.Param{{Name: "realm", Value: "x"}}}
	for value, want := range map[string]challenges{
		"":       nil,
		" , ,":   nil,
		"Bearer": {bearer()},
		`Bearer resource_metadata="https://a.example/.well-known/x?y=1,2", scope="a b"`: {bearer("resource_metadata", "https://a.example/.well-known/x?y=1,2", "scope", "a b")},
		`Bearer realm=x,error="invalid_token"`:                                          {bearer("realm", "x", "error", "invalid_token")},
		"Bearer realm = \"x\" ,\terror = y":                                             {bearer("realm", "x", "error", "y")},
		`Bearer realm="say \"hi\" \\ there"`:                                            {bearer("realm", `say "hi" \ there`)},
		`Bearer realm=""`:                                                               {bearer("realm", "")},
		`Negotiate, Basic realm="x", Bearer scope=a`:                                    {{Scheme: "Negotiate"}, basic, bearer("scope", "a")},
		`Negotiate YII+/-._~==, Bearer scope=a`:                                         {{Scheme: "Negotiate", Token68: "YII+/-._~=="}, bearer("scope", "a")},
		`Basic realm="x" , , Bearer`:                                                    {basic, bearer()},
		`Bearer scope=a, DPoP algs="ES256 PS256", error="use_dpop_nonce"`:               {bearer("scope", "a"), {Scheme: "DPoP", Params: []oauthwire.Param{{Name: "algs", Value: "ES256 PS256"}, {Name: "error", Value: "use_dpop_nonce"}}}},
		`Bearer scope=a, Scope=b`:                                                       {bearer("scope", "a")},
		// Mistakes lose what follows them, not what was before.
		`Basic realm="x", Bearer scope="a`:            {basic},
		`Bearer scope=a error=b`:                      {bearer("scope", "a")},
		`Bearer scope=a, error="b` + "\x00" + `"`:     {bearer("scope", "a")},
		`Bearer scope=a, ="b"`:                        {bearer("scope", "a")},
		`"Bearer"`:                                    nil,
		`Bearer;scope=a`:                              nil,
		"Bearer scope=\"a\r\nX: y\"":                  nil,
		`Bearer scope=a; error=b, resource_metadata=`: {bearer("scope", "a")},
	} {
		got := oauthwire.ParseChallenges([]string{value})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ParseChallenges(%q) (-want +got):\n%s", value, diff)
		}
	}
	two := oauthwire.ParseChallenges([]string{`Basic realm="x"`, `bearer SCOPE="a"`})
	c, ok := oauthwire.Find(two, oauthwire.SchemeBearer)
	if !ok || c.Param("scope") != "a" || c.Param("realm") != "" || len(two) != 2 {
		t.Errorf("challenges of two headers = %v, found %v, %v", two, c, ok)
	}
	if c, ok := oauthwire.Find(two, oauthwire.SchemeDPoP); ok {
		t.Errorf("found %v, which is not there", c)
	}
}

func TestChallengeString(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]oauthwire.Challenge{
		"Bearer":                    bearer(),
		`Bearer a="b", c="d\"e\\f"`: bearer("a", "b", "c", `d"e\f`),
		`Bearer a="bXc"`:            bearer("a", "b\r\nX\x7f\x00c"),
		"Negotiate abc=":            {Scheme: "Negotiate", Token68: "abc="},
	} {
		if got := c.String(); got != want {
			t.Errorf("%#v = %q, want %q", c, got, want)
		}
	}
}

func FuzzParseChallenges(f *testing.F) {
	f.Add(`Bearer resource_metadata="https://a.example/", Basic realm=x, Negotiate abc==`)
	f.Add(`Bearer a="\"", b=c, , DPoP algs="ES256"`)
	f.Fuzz(func(t *testing.T, value string) {
		got := oauthwire.ParseChallenges([]string{value})
		var texts []string
		for _, c := range got {
			texts = append(texts, c.String())
		}
		again := oauthwire.ParseChallenges([]string{strings.Join(texts, ", ")})
		if diff := cmp.Diff(got, again); diff != "" {
			t.Errorf("%q, written and read again (-first +second):\n%s", value, diff)
		}
	})
}
