#!/usr/bin/env bash
# source_list() finds the machine's Debian mirrors however they are written down.
source "$(dirname "$0")/../../scripts/lib/common.sh"
source "$ROOT/scripts/lib/debian_source.sh"
apt=$(mktemp -d)
trap 'rm -rf "$apt"' EXIT
mkdir "$apt/sources.list.d"

expect() {
  local got
  got=$(source_list "$apt")
  [ "$got" = "$1" ] || die "source_list says '$got', expected '$1'"
}

expect ""
echo "deb https://deb.debian.org/debian bookworm main" >"$apt/sources.list"
expect "deb-src https://deb.debian.org/debian bookworm main"
printf '%s\n' "Types: deb" "URIs: https://deb.debian.org/debian" "Suites: bookworm bookworm-updates" \
  "Components: main" >"$apt/sources.list.d/debian.sources"
printf '%s\n' "Enabled: no" "URIs: https://old.debian.org/debian" "Suites: buster" "Components: main" "" \
  "URIs: https://elsewhere.org/tools" "Suites: stable" "Components: main" >"$apt/sources.list.d/other.sources"
both="deb-src https://deb.debian.org/debian bookworm main
deb-src https://deb.debian.org/debian bookworm-updates main"
expect "$both"
rm "$apt/sources.list"
expect "$both"
