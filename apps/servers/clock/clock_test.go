package clock

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// at is a clock that stands still.
func at(t *testing.T, when string) *clock {
	t.Helper()
	fixed, err := time.Parse(time.RFC3339, when)
	if err != nil {
		t.Fatal(err)
	}
	return &clock{now: func() time.Time { return fixed }}
}

func TestCurrent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		now, zone string
		want      moment
	}{
		{"2026-01-15T23:30:00Z", "UTC", moment{"UTC", "2026-01-15T23:30:00+00:00", "Thursday", false}},
		{"2026-01-15T23:30:00Z", "Asia/Tokyo", moment{"Asia/Tokyo", "2026-01-16T08:30:00+09:00", "Friday", false}},
		{"2026-07-15T12:00:00Z", "Europe/Paris", moment{"Europe/Paris", "2026-07-15T14:00:00+02:00", "Wednesday", true}},
		{"2026-01-15T12:00:00Z", "Europe/Paris", moment{"Europe/Paris", "2026-01-15T13:00:00+01:00", "Thursday", false}},
		{"2026-01-15T12:00:00Z", "Australia/Lord_Howe", moment{"Australia/Lord_Howe", "2026-01-15T23:00:00+11:00", "Thursday", true}},
		{"2026-01-15T12:00:00Z", "Asia/Kathmandu", moment{"Asia/Kathmandu", "2026-01-15T17:45:00+05:45", "Thursday", false}},
		{"2026-01-15T12:00:00Z", " america/new york ", moment{"America/New_York", "2026-01-15T07:00:00-05:00", "Thursday", false}},
		{"2026-01-15T12:00:00Z", "Etc/GMT+5", moment{"Etc/GMT+5", "2026-01-15T07:00:00-05:00", "Thursday", false}},
	}
	for _, tt := range tests {
		got, err := at(t, tt.now).current(currentTime{tt.zone})
		if err != nil {
			t.Errorf("current(%q) at %s: %v", tt.zone, tt.now, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("current(%q) at %s (-want +got):\n%s", tt.zone, tt.now, diff)
		}
	}
}

func TestConvert(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, now, from, time, to                string
		wantSource, wantTarget, wantDiff, wantIn string
	}{
		{
			"winter", "2026-01-15T12:00:00Z", "Europe/Warsaw", "16:30", "Asia/Tokyo",
			"2026-01-15T16:30:00+01:00", "2026-01-16T00:30:00+09:00", "+8.0h", "",
		},
		{
			"summer", "2026-07-15T12:00:00Z", "Europe/Warsaw", "16:30", "Asia/Tokyo",
			"2026-07-15T16:30:00+02:00", "2026-07-15T23:30:00+09:00", "+7.0h", "",
		},
		{
			"one digit", "2026-07-15T12:00:00Z", "UTC", "9:05", "UTC",
			"2026-07-15T09:05:00+00:00", "2026-07-15T09:05:00+00:00", "+0.0h", "",
		},
		{
			"quarter hours", "2026-01-15T12:00:00Z", "UTC", "12:00", "Asia/Kathmandu",
			"2026-01-15T12:00:00+00:00", "2026-01-15T17:45:00+05:45", "+5.75h", "",
		},
		{
			"half hours back", "2026-01-15T12:00:00Z", "Asia/Kolkata", "12:00", "UTC",
			"2026-01-15T12:00:00+05:30", "2026-01-15T06:30:00+00:00", "-5.5h", "",
		},
		{
			"today is the source's date", "2026-01-15T23:30:00Z", "Asia/Tokyo", "08:00", "UTC",
			"2026-01-16T08:00:00+09:00", "2026-01-15T23:00:00+00:00", "-9.0h", "",
		},
		{
			"over the date line", "2026-01-15T12:00:00Z", "Pacific/Kiritimati", "01:00", "Pacific/Pago_Pago",
			"2026-01-16T01:00:00+14:00", "2026-01-15T00:00:00-11:00", "-25.0h", "",
		},
		{
			"before the change of the day", "2026-03-08T18:00:00Z", "America/New_York", "01:59", "UTC",
			"2026-03-08T01:59:00-05:00", "2026-03-08T06:59:00+00:00", "+5.0h", "",
		},
		{
			"after the change of the day", "2026-03-08T18:00:00Z", "America/New_York", "03:00", "UTC",
			"2026-03-08T03:00:00-04:00", "2026-03-08T07:00:00+00:00", "+4.0h", "",
		},
		{
			"left out", "2026-03-08T18:00:00Z", "America/New_York", "02:30", "UTC",
			"2026-03-08T03:30:00-04:00", "2026-03-08T07:30:00+00:00", "+4.0h",
			"02:30 does not exist in America/New_York on 2026-03-08, when clocks go forward: 03:30 is taken",
		},
		{
			"twice", "2026-11-01T18:00:00Z", "America/New_York", "01:30", "UTC",
			"2026-11-01T01:30:00-04:00", "2026-11-01T05:30:00+00:00", "+4.0h",
			"01:30 comes twice in America/New_York on 2026-11-01, when clocks go back: the first is taken",
		},
		{
			"after it was twice", "2026-11-01T18:00:00Z", "America/New_York", "02:00", "UTC",
			"2026-11-01T02:00:00-05:00", "2026-11-01T07:00:00+00:00", "+5.0h", "",
		},
		{
			"half an hour of summer time", "2026-04-04T20:00:00Z", "Australia/Lord_Howe", "01:45", "UTC",
			"2026-04-05T01:45:00+11:00", "2026-04-04T14:45:00+00:00", "-11.0h",
			"01:45 comes twice in Australia/Lord_Howe on 2026-04-05, when clocks go back: the first is taken",
		},
		{
			"the target changes that day", "2026-03-29T10:00:00Z", "America/New_York", "00:00", "Europe/London",
			"2026-03-29T00:00:00-04:00", "2026-03-29T05:00:00+01:00", "+5.0h", "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := at(t, tt.now).convert(convertTime{tt.from, tt.time, tt.to})
			if err != nil {
				t.Fatalf("convert(%s, %s, %s): %v", tt.from, tt.time, tt.to, err)
			}
			if got.Source.Datetime != tt.wantSource || got.Target.Datetime != tt.wantTarget ||
				got.TimeDifference != tt.wantDiff || got.Note != tt.wantIn {
				t.Errorf("convert(%s, %s, %s) at %s:\ngot  %+v\nwant %s, %s, %s, %q",
					tt.from, tt.time, tt.to, tt.now, got, tt.wantSource, tt.wantTarget, tt.wantDiff, tt.wantIn)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	c := at(t, "2026-01-15T12:00:00Z")
	for zone, want := range map[string]string{
		"":                      "the time zone is empty",
		strings.Repeat("x", 65): "over 64 bytes",
		"Europe/Berln":          "did you mean Europe/Berlin?",
		"Tokyo":                 "did you mean Asia/Tokyo",
		"Europe/Tokyo":          "did you mean Asia/Tokyo",
		"Amerika/New_York":      "did you mean America/New_York",
		"PST":                   "Did you mean America/Los_Angeles?",
		"UTC+2":                 "the fixed offset is called Etc/GMT-2",
		"-05:00":                "the fixed offset is called Etc/GMT+5",
		"+05:30":                "Give a place",
		"+99":                   "Give a place",
		"Local":                 "unknown time zone",
		"../../etc/passwd":      "in the form Area/City",
		"/etc/passwd":           "unknown time zone",
		"Xanadu/Kublai":         "in the form Area/City",
		"\x00":                  "in the form Area/City",
	} {
		if got, err := c.current(currentTime{zone}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("current(%q) = %+v, %v, want error with %q", zone, got, err, want)
		}
	}
	for _, tt := range []struct{ from, time, to, want string }{
		{"Nowhere", "12:00", "UTC", "source_timezone: unknown time zone"},
		{"UTC", "12:00", "Nowhere", "target_timezone: unknown time zone"},
		{"UTC", "", "UTC", `"" is not a time`},
		{"UTC", "24:00", "UTC", `"24:00" is not a time`},
		{"UTC", "12:60", "UTC", `"12:60" is not a time`},
		{"UTC", "5pm", "UTC", "such as 09:30 or 17:45"},
		{"UTC", strings.Repeat("é", 100), "UTC", "…\" is not a time"},
	} {
		if got, err := c.convert(convertTime{tt.from, tt.time, tt.to}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("convert(%q, %q, %q) = %+v, %v, want error with %q", tt.from, tt.time, tt.to, got, err, tt.want)
		}
	}
}

// TestZoneNames proves that every name of the list is known to the database.
func TestZoneNames(t *testing.T) {
	t.Parallel()
	if n := len(zones()); n < 590 {
		t.Errorf("the list has %d names, want about 600", n)
	}
	for _, name := range zones() {
		loc, err := zone(strings.ToUpper(name))
		if err != nil || loc.String() != name {
			t.Errorf("zone(%q) = %v, %v", strings.ToUpper(name), loc, err)
		}
	}
	for short, name := range abbreviations {
		if zones()[simplify(name)] != name {
			t.Errorf("abbreviation %s stands for %s, which is not in the list", short, name)
		}
	}
}

func TestLocalZone(t *testing.T) {
	t.Setenv("TZ", ":Asia/Tokyo")
	if got := localZone(); got != "Asia/Tokyo" {
		t.Errorf("localZone with TZ=:Asia/Tokyo: got %s", got)
	}
	t.Setenv("TZ", "nonsense")
	if _, err := zone(localZone()); err != nil {
		t.Errorf("localZone with a nonsense TZ: %v", err)
	}
}

func FuzzConvert(f *testing.F) {
	f.Add("Europe/Paris", "02:30", "UTC", int64(1774746000))
	f.Add("+05:00", "x", "america/new york", int64(0))
	f.Fuzz(func(t *testing.T, from, clockTime, to string, now int64) {
		c := &clock{now: func() time.Time { return time.Unix(now%(1<<36), 0) }}
		got, err := c.convert(convertTime{from, clockTime, to})
		if err != nil {
			return
		}
		source, err1 := time.Parse("2006-01-02T15:04:05-07:00", got.Source.Datetime)
		target, err2 := time.Parse("2006-01-02T15:04:05-07:00", got.Target.Datetime)
		// Before zones had whole minutes the offset is not exact in this form.
		if err1 == nil && err2 == nil && source.Sub(target).Abs() > time.Minute {
			t.Errorf("convert(%q, %q, %q) at %d: %v and %v are different times", from, clockTime, to, now, source, target)
		}
	})
}
