#!/bin/sh
# Runs the official conformance suite, an npm package at the version in
# apps/conformance/package-lock.json, against our server and client. Arguments go
# to the program that runs it: "scripts/conformance.sh -update" writes the table
# of expected results and docs/conformance.md, "-repeat 20" looks for flakes, and
# "-only TEXT" shows what sets or client scenarios with that in their name say.
set -eu

cd "$(dirname "$0")/../apps"
if ! command -v npm >/dev/null; then
	echo "conformance: needs npm, and node 22 or newer except on Linux on amd64" >&2
	exit 1
fi

# Install only when something has changed.
if ! cmp -s conformance/package-lock.json conformance/node_modules/.installed; then
	(cd conformance && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error)
	cp conformance/package-lock.json conformance/node_modules/.installed
fi
CGO_ENABLED=0 go build -o ../bin/conformance/ ./conformance/...
exec ../bin/conformance/suite "$@"
