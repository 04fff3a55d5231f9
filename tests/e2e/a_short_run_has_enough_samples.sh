#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `run` without --hz starts at 1000 Hz and lowers its rate by the cost of samples: two seconds have
# a thousand samples by perf, and one a tick by timer; a given rate is kept. At 1000 Hz threads and
# children of a few milliseconds are sampled, for root by the clocks of whole CPUs, without a trace
# of other programs. If much is missed the report gives the remedy.
. "$(dirname "$0")/lib.sh"
F=$W/run.fp

# record NAME RUN_OPTION... -- PROGRAM...: into figures of total (s), samples, unsampled (share) and the functions' names
record() {
  local name=$1
  shift
  $as fleetprof run --output "$F" "$@" >"$W/own" || fail "$name: ended with $?"
  $as fleetprof report "$F" --format json --limit 10000 >"$W/report.json" || fail "$name: no report"
  read -r total samples unsampled < <(json "'%.3f %d %.4f' % (d['total'] / 1e9, d['samples'], sum(f['self_share'] for f in d['functions'] if f['name'] == '[unsampled]'))" <"$W/report.json")
  say "$name: $samples samples of $total s, $unsampled of it unsampled"
  [ "$(json "abs(sum(f['self'] for f in d['functions']) - d['total']) <= 0.01 * d['total']" <"$W/report.json")" = yes ] ||
    fail "$name: the functions, [unsampled] and [kernel] are not the total"
  # A crowd whose main thread stays prints the CPU time that the kernel measured of it.
  [[ $* != *crowd* || ! -s $W/own ]] || is "abs($total - $(cat "$W/own")) <= 0.02 * $(cat "$W/own")" || fail "$name: $total s reported of $(cat "$W/own") s"
}
is() { /usr/bin/python3 -c "import sys; sys.exit(not ($1))"; }
cp "$targets/spin" "$W/elsewhere-$$"

look() {
  record "two seconds by perf" --sampler perf -- "$targets/truth" 2
  is "$total < 2.5 and 600 <= $samples <= 2600" || fail "$samples samples of $total s" # a thousand where one costs no more than 20 us
  record "two seconds by timer" --sampler timer -- "$targets/truth" 2
  is "$samples >= 0.8 * 100 * $total" || fail "$samples samples by timer: less than one a tick of 100 Hz"
  record "a rate that is named" --sampler perf --hz 99 -- "$targets/truth" 2
  is "$samples <= 1.1 * 99 * $total" || fail "--hz 99: $samples samples of $total s"
  record "children of 4 ms" --sampler perf --hz 1000 -- "$targets/crowd" forks 500 4
  is "$samples > 100" || fail "children of 4 ms are not sampled"
  record "threads of 3 ms" --sampler perf --hz 1000 -- "$targets/crowd" threads 600 3
  is "$samples > 100" || fail "threads of 3 ms are not sampled"
  record "children of 4 ms at 199 Hz" --sampler perf --hz 199 -- "$targets/crowd" forks 500 4
}
chmod 711 "$W"
as=
look
if [ "$(id -u)" = 0 ]; then
  is "$samples > 50" || fail "root's CPUs do not show children of 4 ms"
  # Threads that outlive the main thread are seen by the clocks of CPUs, too.
  record "threads of 3 ms without a main thread" --sampler perf --hz 199 -- "$targets/crowd" heirs 600 3
  is "$samples > 50" || fail "threads that outlive the main thread are not sampled"
  # Another program is interrupted, too; neither its samples nor its name are in the file.
  "$W/elsewhere-$$" 100000 >/dev/null & other=$!
  started+=($other)
  record "children of 1 ms beside another program" --sampler perf -- "$targets/crowd" forks 1000 1
  kill $other
  is "$samples > 50" || fail "children of 1 ms are not sampled"
  ! grep -q "elsewhere-$$" "$F" || fail "another program is in the file"
  fleetprof report "$F" --format json | json "d['loss']" | grep -q "^{}$" || say "lost: $(fleetprof report "$F" --format json | json "d['loss']")"
  mkdir -m 700 "$W/theirs" && chown "$ordinary:$ordinary" "$W/theirs"
  F=$W/theirs/run.fp as="as_ordinary env HOME=$W/theirs"
  look
fi
is "$unsampled > 0.5" || fail "inherited events show children that are shorter than their period?"
record "children of 4 ms, some longer" --sampler perf --hz 499 -- "$targets/crowd" forks 200 3
$as fleetprof report "$F" >"$W/words"
is "$unsampled < 0.1" || grep -q "^\[unsampled\]: .*a higher --hz helps" "$W/words" || fail "what helps is not said: $(cat "$W/words")"
