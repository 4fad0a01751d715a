#!/usr/bin/env bash
# Measures how much of the given packages the tests of the root module run, any
# test counting for any package, and fails below COVER percent.
set -euo pipefail
# The packages that help tests are not part of what is measured, nor is one that
# does not exist.
packages=$(go list -e -f '{{if and (not .Error) .GoFiles}}{{.ImportPath}}{{end}}' "$@" 2>/dev/null |
	grep -v -E '/internal/(archtest|transcript|trace)(/|$)' | paste -sd, -)
status=0
# The share that each test binary has of all packages says nothing; leave it out.
go test -coverpkg="$packages" -coverprofile=cover.out ./... |
	sed -e '/coverage: 0.0%/d' -e 's/coverage: .*//' -e '/no test files/d' || status=1
echo "-- coverage by package"
# A line is "file.go:from,to statements count", once for each test binary.
awk 'NR > 1 { size[$1] = $2; hit[$1] += $3 }
	END {
		for (block in size) {
			pkg = block
			sub(/\/[^\/]*$/, "", pkg)
			all[pkg] += size[block]
			if (hit[block] > 0) run[pkg] += size[block]
		}
		for (pkg in all) printf "%6.1f%%  %s\n", 100 * run[pkg] / all[pkg], pkg
	}' cover.out | sort -k 2
go tool cover -func=cover.out | awk -v floor="${COVER:-85}" '
	/^total:/ {
		sub(/%/, "", $NF)
		printf "coverage %s%%, at least %s%% wanted\n", $NF, floor
		exit $NF + 0 < floor + 0
	}' || status=1
exit $status
