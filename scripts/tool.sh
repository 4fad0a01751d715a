#!/usr/bin/env bash
# Builds a tool into a file whose name carries its version:
#   scripts/tool.sh .tools/gofumpt-v0.12.0 mvdan.cc/gofumpt@v0.12.0
set -euo pipefail
file=$1 package=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
echo "-- build $package"
mkdir -p "$(dirname "$file")"
# Outside the workspace and with no flags of ours, or go install would look at our modules.
GOWORK=off GOFLAGS='' GOBIN=$dir go install "$package"
mv "$dir"/* "$file"
