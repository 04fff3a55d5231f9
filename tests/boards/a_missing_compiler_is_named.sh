#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A cross build without its compiler ends at once and names the Debian package. It caches none of
# this machine's own tools, which would break a later build.
set -euo pipefail
cd "$(dirname "$0")/../.."
W=$(mktemp -d)
trap 'rm -rf "$W"' EXIT
fail() { echo "a_missing_compiler_is_named: $*" >&2; exit 1; }
cmake=$(command -v cmake)
for port in arm64:gcc-aarch64-linux-gnu armhf:gcc-arm-linux-gnueabihf mipsel:gcc-mipsel-linux-gnu riscv64:gcc-riscv64-linux-gnu musl:musl-tools; do
  mkdir -p "$W/nothing"
  ! PATH=$W/nothing "$cmake" -S . -B "$W/${port%:*}" --toolchain "$PWD/cmake/toolchains/${port%:*}.cmake" >"$W/out" 2>&1 || fail "${port%:*} is built without a compiler"
  tr -s ' \n' ' ' <"$W/out" | grep -q "install Debian's ${port#*:} " || fail "${port%:*}: $(cat "$W/out")"
  ! grep -qE '^CMAKE_(AR|OBJCOPY|STRIP)' "$W/${port%:*}/CMakeCache.txt" || fail "${port%:*}: tools of this machine are cached"
  grep -qx "${port#*:}" deploy/packages/cross.txt || fail "deploy/packages/cross.txt lacks ${port#*:}"
done
