# HPCC 1.5, unmodified, from Debian's source package, by Heddle's mpicc.
# shellcheck shell=bash
source "$ROOT/scripts/lib/debian_source.sh"

# build_hpcc [prefix]: leaves $HPCC_BUILD/hpcc; build/release without a prefix.
HPCC_BUILD=$ROOT/build/demo
build_hpcc() {
  fetch_source hpcc 1.5 "$CACHE/hpcc/src"
  quietly demo-configure cmake -S "$ROOT/demo" -B "$HPCC_BUILD" -G Ninja -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_C_COMPILER="${1:-$ROOT/build/release}/bin/mpicc" -DHPCC_SOURCE="$CACHE/hpcc/src"
  quietly demo-build cmake --build "$HPCC_BUILD"
}
