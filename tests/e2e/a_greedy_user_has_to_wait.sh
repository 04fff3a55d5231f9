#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A system-wide daemon, and an ordinary user who registers programs without end. The user may cost
# the daemon half a CPU (USER_TOLLS_SHARE_PERCENT) after a burst of a second; then requests get a
# retry-later answer. Another user's program is sampled from start to end, and root's requests are
# always answered.
if [ -z "${USERS_NAMESPACE:-}" ]; then
  [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || { echo "not run: no mount namespace of its own (root is needed)"; exit 77; }
  USERS_NAMESPACE=own exec unshare -m "$0"
fi
. "$(dirname "$0")/lib.sh"
mount -t tmpfs tmpfs /var/lib && mount -t tmpfs tmpfs /run || { echo "not run: no tmpfs can be mounted"; exit 77; }
other=$((ordinary + 70000))
setpriv --reuid=$other true 2>/dev/null || other=65533 # a container maps fewer
as_other() { setpriv --reuid=$other --regid=$other --clear-groups "$@"; }
seconds=5 modes=(greed greed register)
chmod 711 "$W"
install -m 755 "$targets/hostile" "$targets/truth" "$W/"
start_collector
token=$(fleetprof-collector token --data "$W/data" --board shared) || fail "token"
fleetprof enroll --collector "127.0.0.1:$A" --token "$token" >"$W/enroll.log" 2>&1 || fail "enroll: $(cat "$W/enroll.log")"
fleetprofd --window 1s --collector "127.0.0.1:$A" || fail "the daemon ended with $?"
keeper=$(cat /run/fleetprof/fleetprofd.pid)
started+=("$keeper")
# The test measures how the daemon distributes its time, so load on the machine must not take CPU
# from it.
renice -n -20 "$keeper" "$(pgrep -P "$keeper")" >/dev/null
echo -20 2>/dev/null >"/proc/$keeper/autogroup"
cpu_ms() { awk '{ t += $14 + $15 } END { print t * 10 }' "/proc/$keeper/stat" "/proc/$(pgrep -P "$keeper")/stat"; }

greedy=()
for mode in "${modes[@]}"; do
  as_ordinary "$W/hostile" /run/fleetprof/fleetprofd.sock $seconds "$mode" 1 "$W/go" >>"$W/said" 2>>"$W/begun" &
  greedy+=($!)
done
are_ready() { [ "$(grep -c begins "$W/begun")" = ${#modes[@]} ]; }
until_true 10 are_ready || fail "nobody is greedy: $(cat "$W/begun")"
before=$(cpu_ms) start=$(date +%s%N)
touch "$W/go"
sleep 2 # the burst is over
as_other fleetprof run --service modest --sampler timer --hz 199 -- "$W/truth" 2 >"$W/truth.out" || fail "the modest program ended with $?"
[ "$(timeout 5 fleetprof status --format json | json "d['worker_starts']")" = 1 ] || fail "root has no answer, or the worker was started again"
for pid in "${greedy[@]}"; do wait "$pid" || fail "a greedy one ended with $?"; done
spent=$((($(cpu_ms) - before) * 100000000 / ($(date +%s%N) - start)))
deferred=$(fleetprof status --format json | json "d['intake']['deferred']")
[ "$spent" -lt 100 ] || fail "the daemon took $spent % of a CPU"
say "greedy: $(paste -sd ';' "$W/said"); $deferred times told to wait, the daemon took $spent % of a CPU"
# A deferred user has exceeded the burst: a daemon without CPU time cannot provide it.
if [ "$deferred" = 0 ] && [ "$spent" -lt 60 ]; then
  without "a user who is told to wait" "others load this machine, and the daemon had $spent % of a CPU for all"
else
  [ "$deferred" -gt 0 ] || fail "nobody was told to wait"
fi
has_modest() { profile '{service="modest"}' >"$W/modest.json" 2>/dev/null && [ "$(json "d['total'] > 1.8e9" <"$W/modest.json")" = yes ]; }
until_true 10 has_modest || fail "the modest program: $(json "d['total'] / 1e9" <"$W/modest.json") s of 2"
json "'modest: %.2f s told, [unsampled] %.3f' % (d['total'] / 1e9, sum(f['self'] for f in d['functions'] if f['name'] == '[unsampled]') / d['total'])" <"$W/modest.json"
[ "$(json "sum(f['self'] for f in d['functions'] if f['name'] == '[unsampled]') < .5 * d['total']" <"$W/modest.json")" = yes ] || fail "the modest program was not sampled all the time"
