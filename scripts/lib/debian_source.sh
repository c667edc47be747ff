# A Debian source package, through apt with a source list and a state of our own: the system's configuration stays as it is.
# shellcheck shell=bash

# source_list [folder]: the machine's own sources, as deb-src lines; whatever mirror it uses serves the sources too.
source_list() {
  local apt=${1:-/etc/apt}
  { one_line_sources "$apt"; paragraph_sources "$apt"; } | { grep -i debian || true; } | sort -u
}

one_line_sources() {
  local list
  for list in "$1"/sources.list "$1"/sources.list.d/*.list; do
    [ -r "$list" ] || continue
    sed -nE 's/^deb(-src)?([[:space:]])/deb-src\2/p' "$list"
  done
}

paragraph_sources() {
  local list
  for list in "$1"/sources.list.d/*.sources; do
    [ -r "$list" ] || continue
    awk '
      function flush(  i, j, n, m, u, s) {
        if (tolower(enabled) != "no") {
          n = split(uris, u, " "); m = split(suites, s, " ")
          for (i = 1; i <= n; i++) for (j = 1; j <= m; j++)
            print "deb-src " (key ? "[signed-by=" key "] " : "") u[i] " " s[j] " " components
        }
        uris = suites = components = key = enabled = ""
      }
      /^#/ { next }
      /^[[:space:]]*$/ { if (uris) flush(); next }
      { name = tolower($1); value = $0; sub(/^[^:]*:[[:space:]]*/, "", value) }
      name == "uris:" { uris = value }
      name == "suites:" { suites = value }
      name == "components:" { components = value }
      name == "signed-by:" { key = value }
      name == "enabled:" { enabled = value }
      END { if (uris) flush() }' "$list"
  done
}

# fetch_source <package> <version> <folder>: upstream's tarball of the package, checked by apt, unpacked there.
fetch_source() {
  local package=$1 version=$2 folder=$3 apt=$CACHE/apt
  [ ! -e "$folder/.fetched-$version" ] || return 0
  mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$apt/download"
  source_list >"$apt/sources.list"
  [ -s "$apt/sources.list" ] || die "found no Debian mirror in /etc/apt to fetch the source package $package from"
  local options=(-o "Dir::Etc::sourcelist=$apt/sources.list" -o "Dir::Etc::sourceparts=-" -o "Dir::State::lists=$apt/lists"
    -o "Dir::Cache=$apt" -o "Dir::Cache::archives=$apt/archives" -o "APT::Sandbox::User=root" -o "Debug::NoLocking=true")
  if ! apt-get "${options[@]}" -qq --print-uris source --tar-only "$package" >/dev/null 2>&1; then
    say "fetching the list of Debian's source packages"
    quietly source-list apt-get "${options[@]}" -q update
  fi
  say "fetching the source package $package"
  (cd "$apt/download" && quietly "source-$package" apt-get "${options[@]}" -q source --download-only --tar-only "$package")
  local tarball
  tarball=$(find "$apt/download" -name "${package}_${version}*.tar.*" | head -n 1)
  [ -n "$tarball" ] || die "Debian's source package $package is not of version $version: $(ls "$apt/download")"
  rm -rf "$folder"
  mkdir -p "$folder"
  tar -xf "$tarball" -C "$folder" --strip-components=1
  touch "$folder/.fetched-$version"
}
