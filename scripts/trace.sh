#!/usr/bin/env bash
# Runs the tests that name requirements, with recording on, and joins what they
# proved: "scripts/trace.sh" writes the page and the kept list, "scripts/trace.sh
# -check" only fails when a proof was lost.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
status=0
for module in . apps interop; do
	packages=$(cd "$module" && grep -rlE --include='*_test.go' '(mcptest|trace)\.Proves\(' . 2>/dev/null |
		xargs -rn1 dirname | sort -u | grep -vx './internal/trace' || true)
	if [[ $module == . ]]; then
		packages=$(grep -vE '^\./(apps|bench|interop)(/|$)' <<<"$packages" || true)
	fi
	[[ -n $packages ]] || continue
	# shellcheck disable=SC2086
	(cd "$module" && FERRY_TRACE=$dir go test -count=1 $packages) || status=1
done
go run ./internal/trace/report "$@" "$dir" || status=1
exit $status
