#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs that rewrite their rings while the daemon reads them, lie about who they are, map 10 000
# files, send what is no packet and register in a loop: the honest program beside them keeps its
# names, shares and total, nothing is restarted, the books close, and what the daemon spends on a
# hostile ring is bounded (TOLL_SHARE_PERCENT).  Once as the same user, once as another user of a
# daemon for all.  TORTURE_LONG=1: a minute of each.
if [ "$(id -u)" = 0 ] && [ -z "${HOSTILE_NAMESPACE:-}" ]; then
  export HOSTILE_NAMESPACE=none
  if unshare -m true 2>/dev/null; then HOSTILE_NAMESPACE=own exec unshare -m "$0"; fi
fi
. "$(dirname "$0")/lib.sh"
[ -n "${ASAN_OPTIONS:-}" ] && export ASAN_OPTIONS="$ASAN_OPTIONS:log_path=$W/asan"
each=2
[ -n "${TORTURE_LONG:-}" ] && each=60
start_collector

keeper() { cat "$R/fleetprofd.pid"; }
below() { pgrep -P "$(keeper)"; }
cpu_ms() { awk '{ t += $14 + $15 } END { print t * 10 }' "/proc/$(keeper)/stat" "/proc/$(below)/stat"; }
now_ms() { echo $(($(date +%s%N) / 1000000)); }
answer() { # of the honest program: three shares, seconds, samples
  profile "{service=\"honest-$1\"}" | json "' '.join('%.4f' % (sum(f['self'] for f in d['functions'] if f['name'] == n) / max(1, d['total'])) for n in ('alpha_sixty', 'beta_thirty', 'gamma_ten')) + ' %.3f' % (d['total'] / 1e9)"
}
under_attack() { [ "$(grep -c begins "$W/attacks" 2>/dev/null)" = "$1" ]; }
# attack NAME MODE...: all of them at once, as the user in $as; prints what it cost.
attack() {
  local name=$1 mode pids=() before start after end
  shift
  rm -f "$W/attacks"
  for mode; do
    $as "$W/hostile" "$R/fleetprofd.sock" $each "$mode" "$honest" >>"$W/attacks" 2>&1 &
    pids+=($!)
  done
  until_true 20 under_attack $# || fail "$name: nobody attacks: $(cat "$W/attacks")"
  before=$(cpu_ms) start=$(now_ms)
  sleep "$each"
  after=$(cpu_ms) end=$(now_ms)
  for mode in "${pids[@]}"; do wait "$mode"; done
  spent=$(((after - before) * 100 / (end - start)))
  say "$name: $spent % of a CPU, RssAnon $(awk '/RssAnon/ { print $2 }' "/proc/$(below)/status") KiB"
}
honest_is_right() { # NAME BOARD
  until_true 20 books_are_closed "$2" || fail "$1: the books do not close: $(books "$2")"
  /usr/bin/python3 - "$(cat "$W/truth-$1")" "$(answer "$1")" <<'END' || fail "$1: the honest program is wronged"
import sys
true, seen = ([float(x) for x in a.split()] for a in sys.argv[1:])
points = [100 * abs(a - b) for a, b in zip(true[:3], seen[:3])]
total = true[3] + true[4]
print("  honest: %s points off, %.2f s seen of %.2f s" % (["%.2f" % p for p in points], seen[3], total))
sys.exit(max(points) > 3 or abs(seen[3] / total - 1) > 0.01)
END
  say "$1: books $(books "$2")"
}
hurt() { # NAME BOARD
  local seconds=$((each * 6 + 6))
  run_honest --service "honest-$1" --sampler "$3" --hz 199 -- "$targets/truth" $seconds >"$W/truth-$1" & local runner=$!
  until_true 5 pgrep -P $runner >/dev/null || fail "no honest program"
  honest=$(pgrep -P $runner | head -n 1)
  sleep 1
  for mode in stacks pc-lr histogram recorder; do
    attack "$1 $mode" $mode
    [ "$spent" -lt 75 ] || fail "a hostile ring took $spent % of a CPU"
  done
  attack "$1 all at once" stacks histogram recorder packets register
  [ "$spent" -lt 150 ] || fail "the daemon took $spent % of a CPU"
  wait $runner || fail "$1: the honest program ended with $?"
  [ "$(show status --format json | json "d['worker_starts']")" = 1 ] || fail "$1: the worker was started again"
  [ "$(api services 2>/dev/null | grep -c 'honest"')" = 0 ] || fail "$1: a liar took a name"
  honest_is_right "$1" "$2"
}

chmod 711 "$W"
install -m 755 "$targets/hostile" "$W/hostile"
enroll same
R=$B as=
show() { fleetprof "$@" --state "$B"; }
run_honest() { run "$@"; }
fleetprofd --state "$B" --window 1s --collector "127.0.0.1:$A" || fail "fleetprofd ended with $?"
hurt same same timer

if [ "${HOSTILE_NAMESPACE:-}" = own ] && mount -t tmpfs tmpfs /var/lib && mount -t tmpfs tmpfs /run; then
  token=$(fleetprof-collector token --data "$W/data" --board other) || fail "token"
  fleetprof enroll --collector "127.0.0.1:$A" --token "$token" >"$W/enroll.log" 2>&1 || fail "enroll: $(cat "$W/enroll.log")"
  R=/run/fleetprof as=as_ordinary
  show() { fleetprof "$@"; }
  run_honest() { fleetprof run "$@"; }
  fleetprofd --window 1s --collector "127.0.0.1:$A" || fail "the daemon for all ended with $?"
  started+=("$(keeper)")
  hurt other other timer
fi
# shellcheck disable=SC2144
if [ -n "${ASAN_OPTIONS:-}" ] && ls "$W"/asan.* >/dev/null 2>&1; then fail "$(head -n 30 "$W"/asan.*)"; fi
