#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A system-wide daemon whose collector is behind: one user's hundred callers wait for their samples
# to be stored, and other users get their answers at once. A caller without a place to wait loses
# nothing: the unsampled CPU time of its runs is still in the answer.
if [ -z "${WAITERS_NAMESPACE:-}" ]; then
  [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || { echo "not run: no mount namespace of its own (root is needed)"; exit 77; }
  WAITERS_NAMESPACE=own exec unshare -m "$0"
fi
. "$(dirname "$0")/lib.sh"
mount -t tmpfs tmpfs /var/lib && mount -t tmpfs tmpfs /run || { echo "not run: nothing can be mounted here"; exit 77; }
start_collector
token=$(fleetprof-collector token --data "$W/data" --board waiters) || fail "no token"
fleetprof enroll --collector "127.0.0.1:$A" --token "$token" >"$W/enroll.log" 2>&1 || fail "enroll: $(tail -n 1 "$W/enroll.log")"
fleetprofd --window 1s --collector "127.0.0.1:$A" || fail "the daemon ended with $?"
started+=("$(cat /run/fleetprof/fleetprofd.pid)")
chmod 711 "$W"
install -m 755 "$targets/flush_flood" "$W"
total() { profile "{service=\"$1\"}" | json "d['total'] / 1e9"; }
is_told() { total "$1" >/dev/null 2>&1; }
# Forks that end before their first sample: only FLUSH reports their time.
short_forks() { fleetprof run -v --flush-timeout 1s --sampler timer --service "$1" -- bash -c 'for i in {1..400}; do (:); done; times' >"$W/$1.times" 2>"$W/$1.err"; }
short_forks first || fail "the first run ended with $?: $(cat "$W/first.err")"
until_true 10 is_told first || fail "nothing of the first run: $(cat "$W/first.err")"
kill -STOP "$COLLECTOR"
fleetprof run --flush-timeout 0s -- "$targets/spin" 200 >/dev/null
floods=()
for user in 65531 65532 65533 "$ordinary"; do # four times 16 are all places
  setpriv --reuid=$user --regid=$user --clear-groups "$W/flush_flood" /run/fleetprof/fleetprofd.sock 999999 60 60 >"$W/flood-$user" &
  floods+=($!)
done
sleep 2
short_forks second
grep -q "kept in the spool: 64 callers wait" "$W/second.err" || fail "not all places were taken: $(cat "$W/second.err")"
kill "${floods[@]}"
wait "${floods[@]}"
answered=$(cat "$W"/flood-* | tr '\n' ' ')
[ "$answered" = "44 44 44 44 " ] || fail "of 60 callers each 16 wait and 44 are answered; were: $answered"
kill -CONT "$COLLECTOR"
until_true 20 is_told second || fail "nothing of the second run: $(cat "$W/second.err")"
for run in first second; do
  /usr/bin/python3 - "$W/$run.times" "$(total $run)" <<'P' || fail "$run: time is missing: $(cat "$W/$run.err")"
import re, sys
true = sum(int(m) * 60 + float(s) for m, s in re.findall(r"(\d+)m([\d.]+)s", open(sys.argv[1]).read()))
seen = float(sys.argv[2])
print("  %.3f s told of %.3f s" % (seen, true))
sys.exit(not .97 * true - .02 < seen < 1.03 * true + .05)
P
done
