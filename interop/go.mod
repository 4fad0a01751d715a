module github.com/ferrymcp/ferry/interop

go 1.26.0

require github.com/ferrymcp/ferry v0.0.0

require (
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.14.0 // indirect
)

ignore ./node_modules

replace github.com/ferrymcp/ferry => ..
