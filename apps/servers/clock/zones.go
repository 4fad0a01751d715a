package clock

import (
	_ "embed" // the list of names
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // so that zones are known on machines without a database
)

// zoneNames lists the names of the IANA database, one a line, sorted. The
// database that the program carries can be asked for a name but not listed.
//
//go:embed zones.txt
var zoneNames string

// maxZone bounds what is taken for a name of a zone.
const maxZone = 64

// zones finds names by their simplified form.
var zones = sync.OnceValue(func() map[string]string {
	m := make(map[string]string, 600)
	for name := range strings.Lines(zoneNames) {
		name = strings.TrimSpace(name)
		m[simplify(name)] = name
	}
	return m
})

// simplify makes equal what people write for the same zone.
func simplify(name string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), " ", "_")
}

// zone loads a time zone. Capitals do not count, nor whether a space or an
// underscore is written. The error suggests names.
func zone(name string) (*time.Location, error) {
	if strings.TrimSpace(name) == "" {
		return nil, fmt.Errorf("the time zone is empty: give a name of the IANA database such as Europe/Paris or UTC")
	}
	if len(name) > maxZone {
		return nil, fmt.Errorf("the time zone is over %d bytes: give a name of the IANA database such as Europe/Paris or UTC", maxZone)
	}
	known, ok := zones()[simplify(name)]
	if !ok {
		known = name
	}
	if simplify(name) != "local" {
		if loc, err := time.LoadLocation(known); err == nil {
			return loc, nil
		}
	}
	return nil, fmt.Errorf("unknown time zone %q: %s", name, advice(name))
}

// offset is how people write a difference from UTC.
var offset = regexp.MustCompile(`(?i)^(?:utc|gmt)?\s*([+-−])\s*(\d{1,2})(?::?(\d{2}))?$`)

// advice says what to try in place of a name that is not known.
func advice(name string) string {
	if m := offset.FindStringSubmatch(strings.TrimSpace(name)); m != nil {
		hours, _ := strconv.Atoi(m[2])
		// The signs of the Etc zones are the other way round, by convention.
		sign := map[bool]string{true: "-", false: "+"}[m[1] == "+"]
		if etc := fmt.Sprintf("Etc/GMT%s%d", sign, hours); (m[3] == "" || m[3] == "00") && zones()[simplify(etc)] != "" {
			return fmt.Sprintf("an offset is not a name. A place such as Europe/Paris follows summer time; the fixed offset is called %s", etc)
		}
		return "an offset is not a name. Give a place, such as Europe/Paris"
	}
	if place, ok := abbreviations[strings.ToUpper(strings.TrimSpace(name))]; ok {
		return fmt.Sprintf("abbreviations mean different zones in different places. Did you mean %s?", place)
	}
	near := nearest(name, 3)
	if len(near) == 0 {
		return "give a name of the IANA database, in the form Area/City, such as Europe/Paris or America/New_York"
	}
	return fmt.Sprintf("did you mean %s?", strings.Join(near, ", "))
}

// abbreviations are common ones that the database does not have, with the
// place that most people mean.
var abbreviations = map[string]string{
	"ACST": "Australia/Darwin", "AEDT": "Australia/Sydney", "AEST": "Australia/Sydney", "AKST": "America/Anchorage",
	"AST": "America/Halifax", "AWST": "Australia/Perth", "BRT": "America/Sao_Paulo", "BST": "Europe/London",
	"CDT": "America/Chicago", "CEST": "Europe/Paris", "CST": "America/Chicago", "EDT": "America/New_York",
	"EEST": "Europe/Athens", "HKT": "Asia/Hong_Kong", "ICT": "Asia/Bangkok", "IST": "Asia/Kolkata",
	"JST": "Asia/Tokyo", "KST": "Asia/Seoul", "MDT": "America/Denver", "MSK": "Europe/Moscow",
	"NZDT": "Pacific/Auckland", "NZST": "Pacific/Auckland", "PDT": "America/Los_Angeles", "PKT": "Asia/Karachi",
	"PST": "America/Los_Angeles", "SAST": "Africa/Johannesburg", "SGT": "Asia/Singapore", "WEST": "Europe/Lisbon",
	"WIB": "Asia/Jakarta",
}

// nearest gives the names that are closest to one that is not known: its city
// in the right area, or a few letters changed in the whole or in the city.
func nearest(name string, limit int) []string {
	type candidate struct {
		name     string
		distance int
	}
	want := simplify(name)
	wantCity := cityOf(want)
	var found []candidate
	for simple, full := range zones() {
		city := cityOf(simple)
		d := distance(want, simple)
		if c := distance(wantCity, city); c <= len(city)/4 && c < d {
			d = c
		}
		if d <= max(1, len(want)/4) {
			found = append(found, candidate{full, d})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		if a.distance != b.distance {
			return a.distance - b.distance
		}
		return strings.Compare(a.name, b.name)
	})
	var names []string
	for _, c := range found[:min(limit, len(found))] {
		names = append(names, c.name)
	}
	return names
}

// cityOf is the last part of a name.
func cityOf(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// distance is how many letters must be changed, added or taken away to make
// one word of the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, before+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// localZone finds the name of this machine's time zone: the variable TZ, or
// where /etc/localtime points. It is UTC when neither tells.
func localZone() string {
	candidates := []string{strings.TrimPrefix(os.Getenv("TZ"), ":")}
	if target, err := filepath.EvalSymlinks("/etc/localtime"); err == nil {
		if _, name, ok := strings.Cut(filepath.ToSlash(target), "/zoneinfo/"); ok {
			candidates = append(candidates, name)
		}
	}
	for _, name := range candidates {
		if known, ok := zones()[simplify(name)]; ok {
			return known
		}
	}
	return "UTC"
}
