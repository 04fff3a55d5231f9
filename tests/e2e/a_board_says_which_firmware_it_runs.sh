#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A board's image version is a label of the board and of its samples, read from /etc/os-release
# unless the board was given another version, or an empty one.
. "$(dirname "$0")/lib.sh"
own=$(set +u; . /etc/os-release 2>/dev/null || . /usr/lib/os-release 2>/dev/null; echo "${IMAGE_VERSION:-${VERSION_ID:-}}")
start_collector
enroll press-7
firmware() { api boards | json "d['boards'][0]['labels'].get('firmware', '')"; }
is_firmware() { [ "$(firmware)" = "$1" ]; }
# says FIRMWARE OPTION...: checks that a daemon with those options, and a program under it, have
# that firmware.
says() {
  local wanted=$1 pid
  shift
  fleetprofd --state "$B" --collector "127.0.0.1:$A" "$@" || fail "no daemon with $*"
  until_true 10 is_firmware "$wanted" || fail "with $* the firmware is $(firmware), not $wanted"
  run --service "as-$wanted" --hz 250 -- "$targets/truth" 0.3 >/dev/null || fail "truth"
  [ "$(profile "{service=\"as-$wanted\",firmware=\"$wanted\"}" | json "d['samples'] > 0")" = yes ] || fail "no samples of firmware '$wanted'"
  pid=$(cat "$B/fleetprofd.pid")
  kill "$pid"
  until_true 10 is_gone "$pid" || fail "the daemon stays"
}
if [ -n "$own" ]; then
  says "$own"
else
  without os-release "this machine says no version"
fi
says 9.9 --label firmware=9.9 --label site=hall
says "" --label firmware=
say "this machine's firmware: ${own:-not told}"
