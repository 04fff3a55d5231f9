#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The number of whole stacks by the default, by --unwind fp and by `perf script` on the same
# samples, and of impossible callers. One recording of each program has registers, up to 64 KiB of
# each stack and the kernel's chain along frame pointers (ask_for_chains.c). walk_perf walks it like
# the daemon, perf with libunwind; shorter copies are the first bytes of the long ones.
# whole_stacks.py compares them and defines "whole". Last, each program runs under `fleetprof run`
# with perf refused, for the timer's result.
#
#   FLEETPROF_PREFIX=... tests/bench/whole_stacks.sh BUILD [PROGRAM...]
#
# PROGRAM: node java openssl rust tokio go ffmpeg postgres chromium git python3, or another of
# real_work.sh. HZ: samples a second (997). SHOW=1 prints differences. FOLDER is kept, with all
# stacks in it. Needs perf, Debian's python3-capstone and python3-pyelftools, and the programs.
set -eu
tools=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?the build directory}" && pwd)
fleetprof=${FLEETPROF_PREFIX:?an installed tree}/bin/fleetprof
shift
work=$(mktemp -d "${TMPDIR:-/tmp}/fleetprof-whole.XXXXXX")
started=
trap '[ -z "$started" ] || kill $started 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
recorder=by_perf

by_perf() {
  ${as:-} env LD_PRELOAD="$build/tests/bench/ask_for_chains.so" perf record -q -e cpu-clock:u -F "${HZ:-997}" \
    --call-graph dwarf,65528 -o "$(mktemp -u "$work/XXXXXX.data")" "$@"
}
by_timer() {
  ${as:-} "$build/tests/targets/refuse_perf" "$fleetprof" run --sampler timer --hz 249 --output "$(mktemp -u "$work/XXXXXX.fp")" -- "$@"
}
record() { "$recorder" "$@"; }
. "$tools/real_work.sh"

# Runs each unwinder on the recording FILE; modifies perf's copy of it.
unwind() {
  local bytes
  for bytes in 8192 16384 65528; do
    "$build/tests/bench/walk_perf" "$1" $bytes auto >>"stacks/ours-auto-$bytes" 2>>tables
  done
  "$build/tests/bench/walk_perf" "$1" 65528 fp >>stacks/ours-fp 2>>tables
  for bytes in 65528 16384 8192; do
    "$tools/perf_input.py" "$1" $bytes
    perf script -f -i "$1" -F pid,tid,time,ip,sym,dso --ns --no-inline --max-stack 1024 >>"stacks/perf-$bytes" 2>>perf.log
  done
}

[ $# -gt 0 ] || set -- node java openssl rust tokio go ffmpeg postgres chromium git python3
for program; do
  declare -F "${program}_work" >/dev/null || { echo "no program $program" >&2; exit 2; }
done
/usr/bin/python3 "$tools/whole_stacks.py" head
for program; do
  rm -rf stacks pg ./*.data ./*.fp
  mkdir stacks
  recorder=by_perf
  "${program}_work"
  for file in *.data; do unwind "$file"; done
  rm -rf ./*.data pg repo chromium work.db packed*
  recorder=by_timer
  "${program}_work" 2>>timer.log
  timer=$("$fleetprof" report ./*.fp 2>&1 | sed -n 's/^stacks: \([0-9.]*\) % complete.*/\1/p') || true
  /usr/bin/python3 "$tools/whole_stacks.py" "$program" stacks "${timer:--}" ${SHOW:+show}
  [ -z "${FOLDER:-}" ] || { mkdir -p "$FOLDER/$program" && cp -r stacks tables "$FOLDER/$program"; }
  rm -rf repo chromium work.db packed*
done
