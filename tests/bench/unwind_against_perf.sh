#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares our walk with `perf script` on the same samples. Debian's programs, and some of other
# compilers, do real work under `perf record --call-graph dwarf`. Our tables (walk_perf) and perf
# with libunwind walk the registers and the copies of the stack in perf.data, and the stacks are
# compared frame by frame. unwind_compare.py describes the columns.
#
#   tests/bench/unwind_against_perf.sh BUILD [PROGRAM...]     python3 sqlite3 redis nginx xz git kinds node java openssl
#                                                             rust go ffmpeg postgres chromium
#
# Below each row: the share of complete stacks with smaller copies. COPY: copied bytes (16384);
# PERIOD_NS: CPU time between two samples (2000000). SHOW=1 prints a sample of each class of
# difference.
set -eu
copy=${COPY:-16384}
tools=$(cd "$(dirname "$0")" && pwd)
walk=$(cd "${1:?the build directory}" && pwd)/tests/bench/walk_perf
shift
work=$(mktemp -d "${TMPDIR:-/tmp}/fleetprof-against.XXXXXX")
started=
trap '[ -z "$started" ] || kill $started 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

# One file a command: perf 6.1 keeps mappings from before an exec and takes the lowest of both
# mappings of a library as its start. Its stacks then stop in that library or not, depending on
# address randomization.
record() { ${as:-} perf record -q -e task-clock:u -c "${PERIOD_NS:-2000000}" --call-graph "dwarf,$copy" -o "$(mktemp -u "$work/XXXXXX.data")" "$@"; }
. "$tools/real_work.sh"
# Rare in these programs: frame pointers, realigned frames, handlers, the vDSO, late binding.
kinds_work() { record "${walk%/*}/frame_kinds" "${KINDS_SECONDS:-4}"; }

[ $# -gt 0 ] || set -- python3 sqlite3 redis nginx xz git kinds node java openssl rust go ffmpeg postgres chromium
for program; do
  declare -F "${program}_work" >/dev/null || { echo "no program $program" >&2; exit 2; }
done
echo "| program | samples | complete, % | truncated | no table | bad | frames of both | unequal | equal, % | stacks equal, % | complete by perf, % |"
echo "|---|---|---|---|---|---|---|---|---|---|---|"
for program; do
  "${program}_work"
  rm -f ours theirs
  for file in *.data; do
    "$walk" "$file" >>ours 2>>tables
    perf script -f -i "$file" -F pid,tid,time,ip,sym,dso --ns --no-inline --max-stack 1024 >>theirs 2>>perf.log
  done
  "$tools/unwind_compare.py" "$program" ours theirs ${SHOW:+show}
  for bytes in 4096 8192 12288 16384 24576 32768; do
    [ $bytes -lt "$copy" ] || continue
    for file in *.data; do "$walk" "$file" $bytes 2>>tables; done |
      awk -v bytes=$bytes '{ ends[$4]++ } END { printf "    complete with %d bytes: %.2f %%\n", bytes, 100 * ends["complete"] / NR }'
  done
  rm -f ./*.data
done
echo "tables:"
sort -u -t: -k1,1 tables | sed 's/^/    /'
