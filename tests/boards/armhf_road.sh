#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The whole path of a sample from a board of another CPU, from nothing. It installs packages,
# unpacks Debian's libraries of the port, cross-builds daemon, command line and agent by the preset,
# and builds the collector for this machine. Then it boots Debian's kernel for the port in an
# emulator, enrolls the board, samples a program, and queries the collector's API for its named
# stacks, which arrived over TLS. The first run takes some minutes and 700 MB of disk, later runs
# half a minute.
#
#   ./tests/boards/armhf_road.sh [PORT]      (armhf unless given, arm64)
set -euo pipefail
cd "$(dirname "$0")/../.."
port=${1:-armhf}
. deploy/packages/install.sh
install_packages build test boards cross
if [ -z "${FLEETPROF_PREFIX:-}" ]; then
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  echo "building the collector, which runs on this machine"
  { cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DWITH_TESTS=OFF && cmake --build build -j "$(nproc)" &&
    cmake --install build --prefix build/installed; } >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    echo "armhf_road.sh: the build failed" >&2
    exit 1
  }
  export FLEETPROF_PREFIX=$PWD/build/installed
fi
echo "building what goes onto the board by the preset $port, and booting it"
tests/boards/a_board_tells_the_truth.sh "$port"
