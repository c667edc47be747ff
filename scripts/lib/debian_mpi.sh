# Debian's MPICH and Open MPI, unpacked into a folder of our own: installed, they would put an mpicc and an mpiexec into /usr/bin, and a
# Fortran compiler beside them.
# shellcheck shell=bash

DEBIAN_MPICH=(libucx0 libslurm38 libmpich12 mpich libmpich-dev)
DEBIAN_OPENMPI=(libucx0 libopenmpi3 openmpi-common openmpi-bin libopenmpi-dev)

# debian_mpi <mpich|openmpi>: prints a folder with bin/mpicc, mpicxx and mpiexec. False: apt has no such packages.
debian_mpi() {
  local name=$1 root=$CACHE/peers/debian-$1 packages
  if [ "$name" = mpich ]; then packages=("${DEBIAN_MPICH[@]}"); else packages=("${DEBIAN_OPENMPI[@]}"); fi
  if [ ! -e "$root/ready" ]; then
    rm -rf "$root"
    mkdir -p "$root/packages" "$root/bin"
    (cd "$root/packages" && quietly "debian-$name" apt-get download -q "${packages[@]}") || return 1
    local package
    for package in "$root"/packages/*.deb; do dpkg -x "$package" "$root"; done
    rm -rf "$root/packages" "$root"/usr/lib/*/*.a
    debian_wrappers "$name" "$root"
    touch "$root/ready"
  fi
  printf '%s\n' "$root"
}

# The packages' own wrappers know /usr alone.
debian_wrappers() {
  local name=$1 root=$2 lib include link wrapper compiler
  lib=$(dirname "$(find "$root/usr/lib" -maxdepth 2 \( -name libmpich.so.12 -o -name libmpi.so.40 \))")
  if [ "$name" = mpich ]; then
    include=$root/usr/include/${lib##*/}/mpich link="-L$lib -lmpich"
  else
    include=$lib/openmpi/include link="-L$lib/openmpi/lib -lmpi"
  fi
  for wrapper in mpicc:gcc mpicxx:g++; do
    compiler=${wrapper#*:}
    printf '#!/bin/sh\nexec %s "$@" -I%s -Wl,--allow-shlib-undefined %s\n' "$compiler" "$include" "$link" \
      >"$root/bin/${wrapper%:*}"
  done
  {
    printf '#!/bin/sh\nexport LD_LIBRARY_PATH=%s${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\n' "$lib"
    if [ "$name" = openmpi ]; then
      printf 'export OPAL_PREFIX=%s/usr OPAL_LIBDIR=%s/openmpi/lib OPAL_DATADIR=%s/usr/share OPAL_SYSCONFDIR=%s/etc/openmpi\n' \
        "$root" "$lib" "$root" "$root"
      printf 'export OMPI_MCA_mca_base_component_path=%s/openmpi/lib/openmpi3 PATH=%s/usr/bin:$PATH\n' "$lib" "$root"
      printf 'exec %s/usr/bin/orterun "$@"\n' "$root"
    else
      printf 'exec %s/usr/bin/mpiexec.mpich "$@"\n' "$root"
    fi
  } >"$root/bin/mpiexec"
  chmod +x "$root"/bin/*
}
