#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Hostile programs rewrite their rings while the daemon reads them, claim false identities, map 10
# 000 files, hand over events with another meaning, send invalid packets and register in a loop. The
# honest program beside them keeps its names, shares and total. Nothing is restarted, nothing of
# them remains (rows, descriptors, memory), and the counters add up. The daemon's CPU time for a
# hostile ring (TOLL_SHARE_PERCENT) and a hostile user (USER_TOLLS_SHARE_PERCENT) is bounded. Once
# as the same user, once as another user of a system-wide daemon. TORTURE_LONG=1: a minute of each.
if [ "$(id -u)" = 0 ] && [ -z "${HOSTILE_NAMESPACE:-}" ]; then
  export HOSTILE_NAMESPACE=none
  if unshare -m true 2>/dev/null; then HOSTILE_NAMESPACE=own exec unshare -m "$0"; fi
fi
. "$(dirname "$0")/lib.sh"
is_sanitized() { [ -n "${HOSTILE_SANITIZED:-}" ]; } # the product under test, as set in tests/CMakeLists.txt
! is_sanitized || export ASAN_OPTIONS="log_path=$W/asan" UBSAN_OPTIONS="log_path=$W/asan:print_stacktrace=1"
each=1
[ -n "${TORTURE_LONG:-}" ] && each=60
# torture/73 tests a collector's limits for a board: here no limit may delay data, so that the
# counters match at once.
export FLEETPROF_BOARD_MODULES=0 FLEETPROF_BOARD_NODES=0 FLEETPROF_BOARD_SERIES=0 FLEETPROF_BOARD_REFUSALS=0
start_collector

keeper() { cat "$R/fleetprofd.pid"; }
below() { pgrep -P "$(keeper)"; }
# Descriptors received from others, in supervisor and worker.
descriptors() {
  local pid
  for pid in $(keeper) $(below); do
    readlink /proc/"$pid"/fd/* | grep -cE '^(/memfd:|pipe:|/dev/zero|/proc|anon_inode:\[perf_event)'
  done | xargs
}
rss() { awk '/RssAnon/ { print $2 }' "/proc/$(below)/status"; }
services() { api labels/service | json "' '.join(sorted(d['data']))"; }
# no_ghosts NAME: no target except the honest one, which may have ended.
no_ghosts() { [ "$(show status --format json | json "sum(t['service'] != 'honest-$1' for t in d['targets'])")" = 0 ]; }
none_is_left_open() {
  local then now
  read -ra then <<<"$1"
  read -ra now <<<"$(descriptors)"
  [ "${now[0]}" -le "${then[0]}" ] && [ "${now[1]}" -le "${then[1]}" ]
}
cpu_ms() { awk '{ t += $14 + $15 } END { print t * 10 }' "/proc/$(keeper)/stat" "/proc/$(below)/stat"; }
now_ms() { echo $(($(date +%s%N) / 1000000)); }
answer() { # of the honest program: the shares of its three functions in their sum, seconds, samples
  profile "{service=\"honest-$1\"}" | json "(lambda own: ' '.join('%.4f' % (w / max(1, sum(own))) for w in own) + ' %.3f %d' % (d['total'] / 1e9, d['samples']))([sum(f['self'] for f in d['functions'] if f['name'] == n) for n in ('alpha_sixty', 'beta_thirty', 'gamma_ten')])"
}
under_attack() { [ "$(grep -c begins "$W/attacks" 2>/dev/null)" = "$1" ]; }
# attack NAME MODE...: all of them at once, as the user in $as; prints the daemon's cost.
attack() {
  local name=$1 mode pids=() before start after end
  shift
  rm -f "$W/attacks" "$W/go"
  for mode; do
    $as "$W/hostile" "$R/fleetprofd.sock" $each "$mode" "$honest" "$W/go" >>"$W/attacks" 2>&1 &
    pids+=($!)
  done
  until_true 60 under_attack $# || fail "$name: nobody attacks: $(cat "$W/attacks")"
  before=$(cpu_ms) start=$(now_ms)
  touch "$W/go"
  sleep "$each"
  after=$(cpu_ms) end=$(now_ms)
  for mode in "${pids[@]}"; do wait "$mode"; done
  spent=$(((after - before) * 100 / (end - start)))
  say "$name: $spent % of a CPU, RssAnon $(rss) KiB"
  is_sanitized || [ "$(rss)" -lt 6144 ] || fail "$name: the worker holds $(rss) KiB"
}
honest_is_right() { # NAME BOARD [SERVICE]
  until_true 20 books_are_closed "$2" || fail "$1: the books do not close: $(books "$2")"
  /usr/bin/python3 - "$(cat "$W/truth-$1")" "$(answer "$1")" "$(stolen)" "$stolen_before" <<'END' || fail "$1: the honest program is wronged"
import sys
true, seen, (stolen,), (before,) = ([float(x) for x in a.split()] for a in sys.argv[1:])
points = [100 * abs(a - b) for a, b in zip(true[:3], seen[:3])]
total = true[3] + true[4]
print("  honest: %s points off in %d samples, %.2f s seen of %.2f s" % (["%.2f" % p for p in points], seen[4], seen[3], total))
most = max(3, 400 * (.24 / max(1, seen[4])) ** .5)  # four deviations where there are few samples
spare = stolen - before  # by the hypervisor: the clock of events has it, a program's own time has not
sys.exit(max(points) > most or not -.01 * total < seen[3] - total < .01 * total + spare)
END
  say "$1: books $(books "$2")"
}
hurt() { # NAME BOARD
  local seconds=$((each * 7 + 6)) stolen_before=$(stolen)
  run_honest --service "honest-$1" --sampler "$3" --hz 499 -- "$targets/truth" $seconds >"$W/truth-$1" & local runner=$!
  until_true 5 pgrep -P $runner >/dev/null || fail "no honest program"
  honest=$(pgrep -P $runner | head -n 1)
  sleep 1
  local before
  before=$(descriptors)
  for mode in stacks pc-lr histogram recorder; do
    attack "$1 $mode" $mode
    [ "$spent" -lt 90 ] || fail "a hostile ring took $spent % of a CPU"
  done
  attack "$1 events" events
  [ "$spent" -lt 75 ] || fail "forged events took $spent % of a CPU"
  attack "$1 all at once" stacks pc-lr histogram recorder events packets register
  [ "$spent" -lt 150 ] || fail "the daemon took $spent % of a CPU"
  until_true 20 no_ghosts "$1" || fail "$1: ghosts stay: $(show status | head -n 20)"
  until_true 10 none_is_left_open "$before" || fail "$1: of keeper and worker $before descriptors were open, now $(descriptors)"
  wait $runner || fail "$1: the honest program ended with $?"
  [ "$(show status --format json | json "d['worker_starts']")" = 1 ] || fail "$1: the worker was started again"
  local liars
  liars=$(services | tr ' ' '\n' | grep -vE '^(honest-(same|other)|hostile)' | grep honest)
  [ -z "$liars" ] || fail "$1: a liar took a name: $liars"
  honest_is_right "$1" "$2"
}
# perf's records about one program are in the rings that all programs share.
flooded() { # NAME BOARD
  local stolen_before=$(stolen)
  run_honest --service "honest-$1-steady" --sampler perf --hz 499 -- "$targets/truth" $((each + 4)) >"$W/truth-$1-steady" & local runner=$!
  until_true 5 pgrep -P $runner >/dev/null || fail "no honest program"
  rm -f "$W/attacks" "$W/go"
  run_flood "$W/hostile" "$R/fleetprofd.sock" $each flood 1 "$W/go" >>"$W/attacks" 2>&1 & local flood=$!
  until_true 60 under_attack 1 || fail "$1: nobody floods: $(cat "$W/attacks")"
  local before start
  before=$(cpu_ms) start=$(now_ms)
  touch "$W/go"
  wait $flood || fail "$1: the flood ended with $?: $(cat "$W/attacks")"
  spent=$((($(cpu_ms) - before) * 100 / ($(now_ms) - start)))
  say "$1 flood: $(tail -n 1 "$W/attacks"): $spent % of a CPU, RssAnon $(rss) KiB"
  [ "$spent" -lt 100 ] || fail "$1: the daemon took $spent % of a CPU"
  wait $runner || fail "$1: the honest program ended with $?"
  honest_is_right "$1-steady" "$2"
}

chmod 711 "$W"
install -m 755 "$targets/hostile" "$W/hostile"
# Under a sanitizer the code is the same for both users: the short form runs one of them.
if ! is_sanitized || [ $each != 1 ] || [ "${HOSTILE_NAMESPACE:-}" != own ]; then
  enroll same
  R=$B as=
  show() { fleetprof "$@" --state "$R"; }
  run_honest() { run "$@"; }
  fleetprofd --state "$B" --window 1s --collector "127.0.0.1:$A" || fail "fleetprofd ended with $?"
  started+=("$(keeper)")
  hurt same same timer
  run_flood() { run --sampler perf --hz 499 -- "$@"; }
  flooded same same
fi

if [ "${HOSTILE_NAMESPACE:-}" = own ] && mount -t tmpfs tmpfs /var/lib && mount -t tmpfs tmpfs /run; then
  token=$(fleetprof-collector token --data "$W/data" --board other) || fail "token"
  fleetprof enroll --collector "127.0.0.1:$A" --token "$token" >"$W/enroll.log" 2>&1 || fail "enroll: $(cat "$W/enroll.log")"
  R=/run/fleetprof as=as_ordinary
  show() { fleetprof "$@"; }
  run_honest() { fleetprof run "$@"; }
  fleetprofd --window 1s --collector "127.0.0.1:$A" || fail "the daemon for all ended with $?"
  started+=("$(keeper)")
  hurt other other timer
  run_flood() { as_ordinary fleetprof run --sampler perf --hz 499 -- "$@"; }
  flooded other other
fi
is_sanitized || exit 0
# Leaks are reported at exit.
[ ${#started[@]} -gt 0 ] || fail "nobody was tried"
for pid in "${started[@]}"; do kill "$pid" && until_true 20 is_gone "$pid" || fail "pid $pid does not stop"; done
stop_collector
compgen -G "$W/asan.*" >/dev/null && fail "$(head -n 30 "$W"/asan.*)"
say "no report of a sanitizer"
