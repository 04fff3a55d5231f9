#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where the kernel denies perf events (perf_event_paranoid 3, a container's seccomp profile), auto
# falls back to the timer, samples, and gives the reason: in run, status, doctor and in the
# collector's data. As root and as an ordinary user.
[ "$(id -u)" = 0 ] && [ -z "${BELOW:-}" ] && both=1
. "$(dirname "$0")/lib.sh"
if [ -n "${both:-}" ]; then
  home=$W/home
  mkdir -m 0700 "$home"
  chown "$ordinary:$ordinary" "$home"
  chmod 711 "$W"
  BELOW=1 as_ordinary env HOME="$home" TMPDIR="$home" "$0" || fail "as uid $ordinary"
fi
start_collector
enroll board1
refused() { "$targets/refuse_perf" "$@"; }
reason="Permission denied; perf_event_paranoid"

# The daemon too is started below the refusal.
refused fleetprof run --verbose --state "$B" --collector "127.0.0.1:$A" --hz 199 --service refused -- "$targets/truth" 6 >"$W/out" 2>"$W/err" &
program=$!
is_sampled() { [ "$(status --format json 2>/dev/null | json "any(t['sampler'] == 'timer' and t['samples'] > 50 for t in d['targets'])" 2>/dev/null)" = yes ]; }
until_true 15 is_sampled || fail "no samples by timer: $(status)"
[ "$(status --format json | json "d['targets'][0]['why'].count('$reason')")" = 1 ] || fail "status does not say why: $(status)"
status | grep " refused " | grep -q "$reason" || fail "the table does not say why: $(status)"
status | grep -q "perf .*not available.*Permission denied" || fail "the daemon does not say that it has no perf ring: $(status)"
wait $program || fail "the program failed"
grep -q "samples by timer, stored by the collector" "$W/err" || fail "run: $(cat "$W/err")"
status | grep -E " timer +[0-9]+ +ended; perf: " | grep -q "$reason" || fail "an ended run is not in the notes: $(status)"
refused fleetprof doctor --state "$B" >"$W/doctor"
grep -q "^WARN  perf events.*Permission denied" "$W/doctor" || fail "doctor: $(cat "$W/doctor")"
grep -A1 "^WARN  perf events" "$W/doctor" | grep -q "mend: sysctl kernel.perf_event_paranoid=2" || fail "doctor names no mend"
grep -q "^PASS  sampler .*auto takes timer" "$W/doctor" || fail "doctor does not say what auto takes: $(cat "$W/doctor")"
fleetprof doctor --state "$B" | grep -q "^PASS  sampler .*auto takes perf" || fail "doctor without the refusal: $(fleetprof doctor --state "$B")"
shares=$(profile '{service="refused"}' | json "[(f['name'], round(f['self_share'], 2)) for f in d['functions'][:3]]")
say "uid $(id -u): $shares"
[ "$(profile '{service="refused"}' | json "d['samples'] > 100")" = yes ] || fail "too few samples: $(profile '{service="refused"}')"
[ "$(api boards | json "d['boards'][0]['sampler']")" = timer ] || fail "the collector does not know the sampler: $(api boards)"
