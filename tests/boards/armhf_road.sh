#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The whole road of a sample from another CPU's board, from nothing: installs what it takes, lays out Debian's
# libraries of the port, cross-builds daemon, command line and agent by the preset, builds the collector for this
# machine, boots Debian's kernel for the port in an emulator with them on board, enrolls it, samples a program there,
# and asks the collector's API for its named stacks, which came over TLS.  Some minutes and 700 MB of disk the
# first time, half a minute then.
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
