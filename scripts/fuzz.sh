#!/usr/bin/env bash
# Runs every fuzz target of the given modules for FUZZTIME, one after the other,
# because go test fuzzes one at a time.
set -euo pipefail
status=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for module; do
	pushd "$module" >/dev/null
	# A module inside this one has its own turn.
	nested=$(find . -mindepth 2 -name go.mod -not -path '*/testdata/*' -not -path '*/node_modules/*' -exec dirname {} \;)
	while IFS=: read -r file target; do
		dir=$(dirname "$file")
		for n in $nested; do
			case $dir/ in "$n"/*) continue 2 ;; esac
		done
		echo "-- $module: $dir $target"
		if ! go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-20s}" "$dir" </dev/null 2>&1 | tee "$log"; then
			# At the end of its time the engine sometimes stops a worker that is
			# busy and calls that a failure, without an input that fails.
			if grep -q 'context deadline exceeded' "$log" && ! grep -q 'Failing input' "$log"; then
				echo "-- $target: stopped at the end of its time, no input failed"
			else
				status=1
			fi
		fi
	done < <(grep -rEo '^func Fuzz[A-Za-z0-9_]*' --include='*_test.go' --exclude-dir=node_modules --exclude-dir='.?*' . |
		sed 's/:func /:/' | sort)
	popd >/dev/null
done
exit $status
