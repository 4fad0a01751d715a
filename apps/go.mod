module github.com/ferrymcp/ferry/apps

go 1.26.0

require (
	github.com/bmatcuk/doublestar/v4 v4.10.4
	github.com/ferrymcp/ferry v0.0.0
	github.com/rogpeppe/go-internal v1.16.0
	github.com/spf13/cobra v1.10.2
	github.com/tailscale/hujson v0.0.0-20260727124030-b80ff77dac4f
)

replace github.com/ferrymcp/ferry => ..
