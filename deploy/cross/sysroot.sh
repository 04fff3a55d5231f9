#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lays out the libraries of Debian's ARCH port that fleetprofd and fleetprof are linked with, for
# the cross presets:
#
#   deploy/cross/sysroot.sh ARCH [DIR]          (arm64, armhf, mipsel; DIR: build-sysroot-ARCH)
#   cmake --preset ARCH [-DFLEETPROF_SYSROOT=DIR] && cmake --build build-ARCH
#
# The packages of deploy/packages/sysroot.txt, and all their dependencies, are from the machine's
# own sources. The apt that fetches them is independent of this machine: its lists, its cache and
# its record of installed packages are only in DIR. Nothing is installed and no architecture is
# added here, because -dev packages of two ports cannot be installed beside each other while their
# versions differ. No script of a package is run. DIR also serves `qemu-ARCH -L DIR`.
#
# A complete DIR is left as it is; remove it to get newer packages.
set -euo pipefail
cd "$(dirname "$0")/../.."
die() { echo "sysroot.sh: $*" >&2; exit 1; }

case ${1:-} in
arm64 | armhf | mipsel) arch=$1 ;;
*) echo "usage: deploy/cross/sysroot.sh arm64|armhf|mipsel [DIR]" >&2; exit 2 ;;
esac
dir=$(realpath -m -- "${2:-build-sysroot-$arch}")
[ "$(cat "$dir/.complete" 2>/dev/null)" != "$arch" ] || { echo "$dir is complete"; exit 0; }
if [ -e "$dir" ]; then
  [ -e "$dir/.apt" ] || [ -z "$(ls -A "$dir")" ] || die "$dir: is there and not ours: name another directory, or remove it"
  rm -rf "$dir"
fi
apt=$dir/.apt
mkdir -p "$apt"/lists/partial "$apt"/archives/partial
touch "$apt/status"
chmod -R go+rX "$dir" # apt drops root's rights to download

# The machine's own sources and keys; sources limited to architectures other than ARCH are of no
# use.
private=(-qq -o "Dir::State=$apt" -o "Dir::State::status=$apt/status" -o "Dir::State::lists=$apt/lists"
  -o "Dir::Cache=$apt" -o "Dir::Cache::archives=$apt/archives" -o "APT::Architecture=$arch"
  -o "APT::Architectures=$arch" -o "APT::Install-Recommends=0" -o "APT::Sandbox::User=root"
  -o "APT::Keep-Downloaded-Packages=1" -o "DPkg::Post-Invoke=" -o "APT::Update::Post-Invoke=")
mapfile -t packages < <(grep -v '^#' deploy/packages/sysroot.txt)
# A source that does not answer, or has nothing for ARCH, matters only if it has a needed package.
apt-get "${private[@]}" update >"$apt/log" 2>&1 || echo "sysroot.sh: apt-get update: $(tail -n 1 "$apt/log")" >&2
apt-get "${private[@]}" --download-only -y install "${packages[@]}" >>"$apt/log" 2>&1 ||
  die "apt-get install --download-only for $arch: $(tail -n 1 "$apt/log")"
debs=("$apt"/archives/*.deb)
[ -e "${debs[0]}" ] || die "apt downloaded nothing for $arch: see $apt/log"
for deb in "${debs[@]}"; do dpkg -x "$deb" "$dir"; done

# Absolute links are relative to the board's root; the linker needs them relative to DIR.
find "$dir" -type l -lname '/*' | while read -r link; do
  ln -sfnr "$dir$(readlink "$link")" "$link"
done
rm -rf "$apt/lists" "$apt/archives"
echo "$arch" >"$dir/.complete"
echo "$dir: ${#debs[@]} packages of $arch, $(du -sm "$dir" | cut -f 1) MB"
