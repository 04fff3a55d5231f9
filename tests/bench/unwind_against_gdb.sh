#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares our walk over the whole stack, as a handler does it, with gdb. Debian's programs at real
# work are stopped at random moments. gdb reports each thread's callers; at the same stop our tables
# are walked over the same registers and memory (walk_stopped). unwind_compare.py describes the
# columns.
#
#   tests/bench/unwind_against_gdb.sh BUILD [PROGRAM...]     python3 sqlite3 redis nginx xz git kinds node java openssl
#                                                            rust tokio go ffmpeg postgres chromium
#
# STOPS: stops a command (100). SHOW=1 prints a stop of each class of difference.
set -eu
tools=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?the build directory}" && pwd)/tests/bench
shift
work=$(mktemp -d "${TMPDIR:-/tmp}/fleetprof-against.XXXXXX")
started=
trap '[ -z "$started" ] || kill $started 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
export WALK=$build/walk_stopped STOPS=${STOPS:-100} OURS=$work/ours THEIRS=$work/theirs

# The process that has worked most, of PID and those that it has started.
busiest() {
  local all=$1 last=$1
  while last=$(pgrep -P "${last// /,}" | tr '\n' ' ') && last=${last% } && [ -n "$last" ]; do all="$all $last"; done
  for pid in $all; do awk '{ sub(/.*\) /, ""); print $12 + $13, '"$pid"' }' "/proc/$pid/stat" 2>/dev/null || true; done | sort -n | tail -1 | cut -d' ' -f2
}

# Some take a while until they are at work.
delay() { case $program in postgres) echo 4 ;; java | chromium) echo 1 ;; *) echo 0.3 ;; esac; }

record() {
  local command at
  ${as:-} "$@" <&0 &
  command=$!
  sleep "$(delay)"
  at=$(busiest $command) || true
  gdb -nx -batch -p "${at:-$command}" -x "$tools/unwind_at_stops.py" </dev/null >>gdb.log 2>&1 || true
  wait $command
}
. "$tools/real_work.sh"
kinds_work() { record "$build/frame_kinds" "${KINDS_SECONDS:-4}"; }

[ $# -gt 0 ] || set -- python3 sqlite3 redis nginx xz git kinds
for program; do
  declare -F "${program}_work" >/dev/null || { echo "no program $program" >&2; exit 2; }
done
echo "| program | stacks | complete, % | truncated | no table | bad | frames of both | unequal | equal, % | stacks equal, % |"
echo "|---|---|---|---|---|---|---|---|---|---|"
for program; do
  rm -f ours theirs
  "${program}_work"
  [ -s ours ] || { tail -n 20 gdb.log >&2; echo "| $program | none |"; continue; }
  "$tools/unwind_compare.py" "$program" ours theirs ${SHOW:+show}
done
