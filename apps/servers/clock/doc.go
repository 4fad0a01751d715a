// Package clock is the server "time": it tells the time in a zone and converts
// a time of day between zones, with summer time taken into account. The time
// zones are part of the program, so it works on machines without a database.
package clock
