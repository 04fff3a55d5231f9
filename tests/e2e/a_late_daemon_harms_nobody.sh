#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Parts of the daemon are stopped while working: requests meanwhile are rejected, no sample is
# dropped, no program ends. Root may query the status of any user's daemon.
AT_ONCE=1 . "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
B=$W/board
fleetprofd --state "$B" --collector 127.0.0.1:1 || fail "fleetprofd ended with $?"
keeper=$(cat "$B/fleetprofd.pid")
started+=("$keeper")
targets_known() { fleetprof status --state "$B" --format json | json "len(d['targets'])"; }
knows() { [ "$(targets_known)" = "$1" ]; }
preload=(env FLEETPROF_SOCKET="$B/fleetprofd.sock" LD_PRELOAD="$agent")

"${preload[@]}" sleep 30 & early=$!
until_true 5 knows 1 || fail "the first program is not known"
kill -STOP "$keeper"
"${preload[@]}" sleep 30 & lost=$!
sleep 3
kill -CONT "$keeper"
sleep 1
kill -0 "$keeper" || fail "a late answer ended the daemon"
knows 1 || fail "$(targets_known) targets: the first one was dropped, or the late one is a ghost"
"${preload[@]}" sleep 30 & later=$!
until_true 5 knows 2 || fail "nobody can register any more"
kill -9 "$(pgrep -P "$keeper")"
until_true 5 knows 2 || fail "a new worker finds $(targets_known) targets with the keeper"
kill $early $lost $later
until_true 5 knows 0 || fail "targets stay: $(targets_known)"
say "a keeper stopped for 3 s: nothing ended, nothing dropped, no ghost"

# starts COUNT [TOGETHER]: how many of COUNT starts waited as long as a start waits for an answer.
starts() {
  /usr/bin/python3 - "$1" "${2:-1}" "${preload[@]}" true <<'END'
import concurrent.futures, subprocess, sys, time
def start(_):
    begin = time.monotonic()
    subprocess.run(sys.argv[3:], check=True)
    return time.monotonic() - begin >= 0.15
with concurrent.futures.ThreadPoolExecutor(int(sys.argv[2])) as pool:
    print(sum(pool.map(start, range(int(sys.argv[1])))))
END
}
# Only the first start may wait for a hung worker; when it continues, so does everything.
worker=$(pgrep -P "$keeper")
kill -STOP "$worker"
"${preload[@]}" true
waited=$(starts 20)
[ "$waited" -le 3 ] || fail "$waited of 20 starts waited for a worker that hangs"
fleetprof status --state "$B" >"$W/status" 2>&1 & asked=$!
sleep 1
kill -CONT "$worker"
wait $asked || fail "status did not wait for the worker: $(cat "$W/status")"
"${preload[@]}" sleep 30 & later=$!
until_true 5 knows 1 || fail "the worker goes on, and nobody can register"
kill $later
until_true 5 knows 0 || fail "a target stays: $(targets_known)"
# All 21 starts are counted. Repeated status requests are not, except one or two before the client
# is identified.
away=$(fleetprof status --state "$B" --format json | json "d['intake']['turned_away']")
[ "$away" -ge 21 ] && [ "$away" -le 25 ] || fail "21 programs were turned away, and $away are counted"
fleetprof status --state "$B" | grep -q "^  refused  .* $away programs: the daemon was busy" || fail "status does not say who was turned away: $(fleetprof status --state "$B")"
say "a worker that hangs: $waited of 20 starts waited, $away programs turned away"

# If both are stopped, no request is answered: abandoned connections fill the queue, and no other
# caller waits.
kill -STOP "$keeper" "$worker"
starts 40 40 >/dev/null
waited=$(starts 20)
kill -CONT "$keeper" "$worker"
[ "$waited" -le 3 ] || fail "$waited of 20 starts waited for a daemon that is stopped"
"${preload[@]}" sleep 30 & later=$!
until_true 5 knows 1 || fail "the daemon goes on, and $(targets_known) targets are known"
kill $later
until_true 5 knows 0 || fail "a target stays: $(targets_known)"
say "a daemon that is stopped: $waited of 20 starts waited"

# A ring that is ready after its program has continued without it is discarded: perf takes over, and
# the reported reasons are true.
says() { [ "$(fleetprof status --state "$B" --format json | json "len(d['targets']) == 1 and all($1 for t in d['targets'])")" = yes ]; }
kill -STOP "$keeper" "$worker"
"${preload[@]}" FLEETPROF_SAMPLER=timer "$targets/spin" 60000 >/dev/null & late=$!
sleep 1
kill -CONT "$keeper" "$worker"
until_true 15 says "t['sampler'] == 'perf' and 'no answer in time: the daemon was busy' in t['why'] and t['samples'] > 50" \
  || fail "who had waited long enough: $(fleetprof status --state "$B" --format json | json "d['targets']")"
kill $late
until_true 5 knows 0 || fail "a target stays: $(targets_known)"
say "who has gone on without an answer is sampled by perf"

if [ "$(id -u)" = 0 ]; then
  chmod 711 "$W"
  install -d -o "$ordinary" -g "$ordinary" "$W/theirs"
  as_ordinary "$FLEETPROF_PREFIX/bin/fleetprofd" --state "$W/theirs" --collector 127.0.0.1:1 || fail "a user's daemon"
  started+=("$(cat "$W/theirs/fleetprofd.pid")")
  fleetprof status --state "$W/theirs" >"$W/status" 2>&1 || fail "root asks a user's daemon: $(cat "$W/status")"
  if FLEETPROF_SOCKET="$W/theirs/fleetprofd.sock" LD_PRELOAD="$agent" sleep 1; then
    fleetprof status --state "$W/theirs" --format json | json "len(d['targets'])" | grep -qx 0 || fail "root's program is a user's target"
  fi
  say "root asks a user's daemon"
fi
