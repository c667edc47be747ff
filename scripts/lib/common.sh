# For the scripts in this folder's parent: where things are, how they speak, what they install.
# shellcheck shell=bash
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
CACHE=$ROOT/.cache
LOGS=$ROOT/build/log
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1 CTEST_OUTPUT_ON_FAILURE=1
mkdir -p "$CACHE" "$LOGS"
# Of python3 itself: a version manager's script of that name takes as long to find it as most tests.
if command -v python3 >/dev/null; then PATH=$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))'):$PATH; fi

say() { printf '%s\n' "$*"; }
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# quietly <log> <command...>: its output goes to build/log/<log>.log, of which the end is shown when it fails.
quietly() {
  local log=$LOGS/$1.log
  shift
  if ! "$@" </dev/null >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    say "failed: $* (all of it: $log)" >&2
    return 1
  fi
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "needs root to install packages, and there is no sudo: run as root once: $*"
  fi
}

package_missing() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" != installed ]; }

# Debian packages that are not there yet; nothing is asked of the network when all are.
install_packages() {
  local missing=() package
  for package in "$@"; do
    if package_missing "$package"; then missing+=("$package"); fi
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || die "needs the packages ${missing[*]}, and there is no apt-get to install them with"
  say "installing ${missing[*]}"
  quietly apt-update as_root apt-get update -q
  quietly apt-install as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

PACKAGES_BUILD=(gcc g++ cmake ninja-build git python3 python3-venv libhwloc-dev libpmix-dev libfabric-dev libhwy-dev libgtest-dev librapidcheck-dev libbenchmark-dev libcli11-dev
  pkg-config)
PACKAGES_TEST=(clang libclang-rt-14-dev clang-format-14 gdb binutils ccache valgrind iproute2 nftables openssh-client openssh-server spin)
PACKAGES_SOURCES=(apt dpkg-dev make libblas-dev)

# configure <preset>, build <preset> [target...]
configure() {
  local launcher=()
  if command -v ccache >/dev/null; then
    export CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros  # headers that are compiled once
    launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  quietly "configure-$1" cmake -S "$ROOT" --preset "$1" "${launcher[@]}"
}
build() {
  local preset=$1 targets=()
  shift
  if [ $# -gt 0 ]; then targets=(--target "$@"); fi
  quietly "build-$preset" cmake --build "$ROOT/build/$preset" "${targets[@]}"
}
build_heddle() {
  configure release
  build release mpi_abi mpiexec heddle
  [ -x "$ROOT/build/release/bin/mpicc" ] || die "the build left no build/release/bin/mpicc"
}
