#!/bin/sh
# Runs the tests that take long, and those against implementations of others,
# which are npm packages at the versions in interop/package-lock.json. Arguments
# go to the tests of interop: "scripts/interop.sh -update" writes docs/interop.md.
set -eu

cd "$(dirname "$0")/.."
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
	echo "interop: needs node 20 or newer, and npm" >&2
	exit 1
fi

# Install only when something has changed.
cd interop
if ! cmp -s package-lock.json node_modules/.installed; then
	npm ci --no-audit --no-fund --ignore-scripts
	cp package-lock.json node_modules/.installed
fi

if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && ! command -v google-chrome >/dev/null; then
	echo "interop: the test of logging in with a browser is skipped, there is no Chromium (on Debian: apt-get install --no-install-recommends chromium)" >&2
fi

export FERRY_INTEROP=1
status=0
echo "-- interop: go test ."
go test -count=1 -parallel 6 -timeout 9m . "$@" || status=1
cd ../apps
echo "-- apps: FERRY_INTEROP=1 go test ./..."
go test ./... || status=1
exit $status
