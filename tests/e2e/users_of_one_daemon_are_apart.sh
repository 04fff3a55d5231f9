#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A system-wide daemon: another user's program is sampled by perf with the daemon's own events, and
# is visible to its user and root, not to a third user. Programs that write into the kernel's rings,
# which all users share, at the maximum permitted rate displace no samples of others.
if [ -z "${USERS_NAMESPACE:-}" ]; then
  [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || { echo "not run: no mount namespace of its own (root is needed)"; exit 77; }
  USERS_NAMESPACE=own exec unshare -m "$0"
fi
. "$(dirname "$0")/lib.sh"
mount -t tmpfs tmpfs /var/lib && mount -t tmpfs tmpfs /run || { echo "not run: nothing can be mounted here"; exit 77; }
as() { setpriv "--reuid=$1" "--regid=$1" --clear-groups "${@:2}"; }
field() { as "$1" fleetprof status --format json | json "[t for t in d['targets'] if t['service'] == '$2'][0].get('$3')"; }
has_samples() { [ "$(field 0 "$1" samples 2>/dev/null)" -gt 20 ] 2>/dev/null; }
chmod 711 "$W"
install -m 755 "$targets/truth" "$targets/flush_flood" "$targets/deep_stack" "$targets/liar" "$W"
entries() { fleetprof status --format json | json "d['spool']['entries']"; }
fleetprofd --window 1s || fail "the daemon ended with $?"
started+=("$(cat /run/fleetprof/fleetprofd.pid)")
# A user who may not read the daemon's directory gets a message, not a fault.
as "$ordinary" fleetprof doctor >"$W/doctor"
grep -q "^PASS  enrolment .*the daemon's, in /var/lib/fleetprof" "$W/doctor" || fail "doctor: $(cat "$W/doctor")"
grep -q "^PASS  kill switch .*neither /etc/fleetprof/disable nor /var/lib/fleetprof/disable" "$W/doctor" || fail "doctor: $(cat "$W/doctor")"
! grep -q ^FAIL "$W/doctor" || fail "doctor fails for a user beside root's daemon: $(cat "$W/doctor")"
touch /var/lib/fleetprof/disable
sleep 1.5
as "$ordinary" fleetprof doctor | grep -q "^WARN  kill switch .*/var/lib/fleetprof/disable turns" || fail "doctor does not tell a user of the daemon's kill switch"
rm /var/lib/fleetprof/disable
sleep 1.5
for sampler in perf timer; do
  as "$ordinary" fleetprof run --service $sampler --sampler $sampler --label secret=word --label uid=0 -- "$W/truth" 8 >/dev/null 2>"$W/err" &
  runner=$!
  until_true 10 has_samples $sampler || fail "$sampler: no samples"
  got=$(field "$ordinary" $sampler sampler)
  if [ "$sampler" = perf ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 2 ]; then
    say "perf is closed to users here: $got"
  else
    [ "$got" = $sampler ] || fail "$sampler: $got: $(field 0 $sampler why)"
  fi
  as 65532 fleetprof status --format json >"$W/other"
  [ "$(json "d['targets'] == [] and d['notes'] == [] and d['targets_hidden'] == 1" <"$W/other")" = yes ] || fail "$sampler: another user sees $(json "d['targets'], d['notes'], d['targets_hidden']" <"$W/other")"
  grep -q truth "$W/other" && fail "$sampler: another user is told of the program: $(cat "$W/other")"
  as 65532 fleetprof status | grep -q "programs of other users: 1 (only root" || fail "$sampler: not in words: $(as 65532 fleetprof status)"
  for user in 0 "$ordinary"; do
    field "$user" $sampler labels | grep -q "'uid': '$ordinary'" || fail "$sampler: whose it is does not stand in its labels"
    field "$user" $sampler labels | grep -q word || fail "$sampler: user $user does not see the labels"
  done
  # Endless reports of an ended program, whether it is alive or unknown, close no window.
  for flooder in "$ordinary" 65533; do
    before=$(entries) since=$SECONDS
    answers=$(as "$flooder" "$W/flush_flood" /run/fleetprof/fleetprofd.sock "$(pgrep -f "^$W/truth 8")" 1000)
    answers=$answers,$(as "$flooder" "$W/flush_flood" /run/fleetprof/fleetprofd.sock 999999 1000)
    batches=$(($(entries) - before))
    [ $batches -le $((SECONDS - since + 4)) ] || fail "$sampler: $batches batches in $((SECONDS - since)) s of $answers FLUSHes by $flooder"
  done
  # False rates, times or owners of a program are rejected, and affect no window or worker.
  lies=$(as 65533 "$W/liar" /run/fleetprof/fleetprofd.sock "$(pgrep -f "^$W/truth 8")") || fail "$sampler: a lie was believed: $lies"
  say "$sampler: $lies"
  say "$sampler: $batches batches in $((SECONDS - since)) s of $answers FLUSHes"
  [ $sampler = perf ] || field "$ordinary" $sampler argv | grep -q truth || fail "the owner does not see the arguments"
  wait $runner || fail "$sampler: the program ended with $?"
done
[ "$(fleetprof status --format json | json "d['worker_starts'] == 1 and d['loss']['dropped'].get('spool_error', 0) == 0")" = yes ] || fail "somebody was harmed: $(fleetprof status --format json | json "d['worker_starts'], d['loss']")"

# The test measures whether the daemon keeps up, so load on the machine must not take CPU from it.
keeper=$(cat /run/fleetprof/fleetprofd.pid)
renice -n -20 "$keeper" "$(pgrep -P "$keeper")" >/dev/null
echo -20 2>/dev/null >"/proc/$keeper/autogroup"
books() { fleetprof status --format json | json "d['loss']['produced'], d['loss']['dropped']['ring_full']" | tr -d '(,)'; }
read -r before lost_before <<<"$(books)"
writers=()
for i in 1 2 3; do
  as "$ordinary" fleetprof run --service fast$i --sampler perf --hz 10000 -- "$W/deep_stack" 120 1000 >/dev/null 2>"$W/err" &
  writers+=($!)
done
for pid in "${writers[@]}"; do wait "$pid" || fail "a fast writer ended with $?: $(cat "$W/err")"; done
read -r after lost_after <<<"$(books)"
made=$((after - before)) lost=$((lost_after - lost_before))
say "three programs at 10 kHz with 120 frames: $lost of $made samples found their ring full"
[ $lost -le $((made / 100)) ] || fail "$lost of $made samples found their ring full"
