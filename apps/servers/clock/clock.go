package clock

import (
	"fmt"
	"strings"
	"time"
)

// A clock answers both tools. It is safe for concurrent use.
type clock struct {
	now func() time.Time
}

// currentTime holds the arguments of get_current_time.
type currentTime struct {
	Timezone string `json:"timezone" jsonschema:"time zone by its IANA name, such as Europe/Paris, America/New_York or UTC"`
}

// convertTime holds the arguments of convert_time.
type convertTime struct {
	SourceTimezone string `json:"source_timezone" jsonschema:"time zone of the time given, by its IANA name, such as Europe/Paris"`
	Time           string `json:"time" jsonschema:"hours and minutes of a 24-hour clock, such as 09:30 or 17:45"`
	TargetTimezone string `json:"target_timezone" jsonschema:"time zone to convert to, by its IANA name, such as Asia/Tokyo"`
}

// moment is a point in time as a place's clocks show it.
type moment struct {
	Timezone  string `json:"timezone"`
	Datetime  string `json:"datetime"`
	DayOfWeek string `json:"day_of_week"`
	IsDST     bool   `json:"is_dst"`
}

// conversion is the result of convert_time.
type conversion struct {
	Source         moment `json:"source"`
	Target         moment `json:"target"`
	TimeDifference string `json:"time_difference"`
	// Note tells of a time that does not exist or comes twice.
	Note string `json:"note,omitzero"`
}

// current tells the time in a zone.
func (c *clock) current(in currentTime) (moment, error) {
	loc, err := zone(in.Timezone)
	if err != nil {
		return moment{}, err
	}
	return show(c.now().In(loc)), nil
}

// convert tells what another zone's clocks show when a zone's clocks show a
// time today. Today is the date in the source zone.
func (c *clock) convert(in convertTime) (conversion, error) {
	source, err := zone(in.SourceTimezone)
	if err != nil {
		return conversion{}, fmt.Errorf("source_timezone: %w", err)
	}
	target, err := zone(in.TargetTimezone)
	if err != nil {
		return conversion{}, fmt.Errorf("target_timezone: %w", err)
	}
	wall, err := time.Parse("15:04", strings.TrimSpace(in.Time))
	if err != nil {
		return conversion{}, fmt.Errorf("%q is not a time: write hours and minutes of a 24-hour clock, such as 09:30 or 17:45", clip(in.Time))
	}
	today := c.now().In(source)
	wall = time.Date(today.Year(), today.Month(), today.Day(), wall.Hour(), wall.Minute(), 0, 0, time.UTC)
	from, note := onClocks(wall, source)
	to := from.In(target)
	_, fromOffset := from.Zone()
	_, toOffset := to.Zone()
	return conversion{Source: show(from), Target: show(to), TimeDifference: difference(toOffset - fromOffset), Note: note}, nil
}

// onClocks finds when the clocks of a place show what wall, in UTC, shows.
// When clocks go back a time comes twice: the first is taken. When they go
// forward a time is left out: the one that would have been is taken, which
// clocks show as later. The note says so.
func onClocks(wall time.Time, loc *time.Location) (t time.Time, note string) {
	// No offset is over a day, and changes are more than two days apart.
	_, before := wall.Add(-24 * time.Hour).In(loc).Zone()
	_, after := wall.Add(24 * time.Hour).In(loc).Zone()
	first := wall.Add(-time.Duration(before) * time.Second).In(loc)
	second := wall.Add(-time.Duration(after) * time.Second).In(loc)
	reads := func(t time.Time) bool { return t.Format(time.DateTime) == wall.Format(time.DateTime) }
	day, clock := wall.Format(time.DateOnly), wall.Format("15:04")
	switch {
	case reads(first) && reads(second):
		if !first.Equal(second) {
			note = fmt.Sprintf("%s comes twice in %s on %s, when clocks go back: the first is taken", clock, loc, day)
		}
		return first, note
	case reads(first):
		return first, ""
	case reads(second):
		return second, ""
	}
	return first, fmt.Sprintf("%s does not exist in %s on %s, when clocks go forward: %s is taken", clock, loc, day, first.Format("15:04"))
}

// show writes a point in time as its zone's clocks show it.
func show(t time.Time) moment {
	return moment{
		Timezone:  t.Location().String(),
		Datetime:  t.Format("2006-01-02T15:04:05-07:00"),
		DayOfWeek: t.Weekday().String(),
		IsDST:     t.IsDST(),
	}
}

// difference writes seconds as hours with a sign: at least one digit after
// the point and no more than needed.
func difference(seconds int) string {
	text := strings.TrimRight(fmt.Sprintf("%+.2f", float64(seconds)/3600), "0")
	if strings.HasSuffix(text, ".") {
		text += "0"
	}
	return text + "h"
}

// clip shortens what a caller sent before it is quoted back.
func clip(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}
