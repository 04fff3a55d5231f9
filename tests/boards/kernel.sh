#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds a small kernel from Debian's source, like that of an old or small board, and prints its
# path. It has HZ=100, no modules, and two hazards that no configuration selects, restored by two
# lines of sed:
#
# - CPU timers expire in the tick's interrupt, wherever the program is (no
#   CONFIG_POSIX_CPU_TIMERS_TASK_WORK: so before
#   5.9, and on 32-bit ARM and MIPS to this day);
# - a signal that arrives while a program forks makes the kernel give the fork up and begin anew (so
#   before 4.19).
#
#   kernel.sh PORT       (armhf) kept in the cache of board.sh: some minutes the first time
set -euo pipefail
port=$1
here=$(cd "$(dirname "$0")" && pwd)
cache=${FLEETPROF_BOARDS:-${XDG_CACHE_HOME:-$HOME/.cache}/fleetprof/boards}
case $port in
armhf) arch=arm cross=arm-linux-gnueabihf- target=zImage image=arch/arm/boot/zImage ;;
*) echo "kernel.sh: $port: there is armhf alone" >&2; exit 2 ;;
esac
config=$here/kernel-$port.config
wanted=$(cat "$config" "$here/kernel.config" "$0" | sha256sum | cut -c 1-12)
kernel=$cache/$port/kernel-$wanted
[ ! -e "$kernel" ] || { echo "$kernel"; exit 0; }
mkdir -p "$cache/$port"
exec 9>"$cache/$port/kernel.lock" && flock -w 3600 9 || { echo "kernel.sh: somebody builds it for an hour" >&2; exit 1; }
[ ! -e "$kernel" ] || { echo "$kernel"; exit 0; }

source=$cache/amd64/linux-source-6.1 # the same for every port
[ -d "$source" ] || "$here/fetch.sh" amd64 linux-source-6.1 "$source" >&2
build=$(mktemp -d "$cache/$port/kernel-build.XXXXXX")
trap 'rm -rf "$build"' EXIT
# Other CPUs, drivers and documents are three quarters of the source.
tar -C "$build" --strip-components=1 -xf "$source/usr/src/linux-source-6.1.tar.xz" --exclude='*/Documentation/*/*' \
  --exclude='linux-source-6.1/drivers/gpu/drm/amd/include' --exclude='linux-source-6.1/tools/testing'
cd "$build"
sed -i '/^config POSIX_CPU_TIMERS_TASK_WORK/,/^config/ s/default y .*/default n/' kernel/time/Kconfig
sed -i '/Let kill terminate clone/,/goto/ { s/fatal_signal_pending/signal_pending/; s/-EINTR/-ERESTARTNOINTR/ }' kernel/fork.c
grep -q -A 3 'if (signal_pending(current))' kernel/fork.c || { echo "kernel.sh: fork.c is not as expected" >&2; exit 1; }
make=(make -s "ARCH=$arch" "CROSS_COMPILE=$cross" "HOSTCC=gcc")
cat "$here/kernel.config" "$config" >wanted.config
"${make[@]}" KCONFIG_ALLCONFIG=wanted.config allnoconfig >&2
# Reports options that are missing from the result: a removed option would otherwise go unnoticed.
missing=$(grep -E '^CONFIG_' wanted.config | grep -vxFf .config || true)
[ -z "$missing" ] || { echo "kernel.sh: $port: not taken: $missing" >&2; exit 1; }
! grep -q '^CONFIG_POSIX_CPU_TIMERS_TASK_WORK=y' .config || { echo "kernel.sh: the timers' task work is still in" >&2; exit 1; }
nice "${make[@]}" -j "$(nproc)" "$target" >"$cache/$port/kernel.log" 2>&1 || { tail -n 20 "$cache/$port/kernel.log" >&2; exit 1; }
cp .config "$kernel.config"
mv "$image" "$kernel"
echo "$kernel"
