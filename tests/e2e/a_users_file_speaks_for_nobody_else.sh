#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A file's build-id is only its own claim. A user's program with libc's build-id, sampled before any
# other, does not change other users' stacks: they still go through libc.
if [ -z "${USERS_NAMESPACE:-}" ]; then
  [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || { echo "not run: no mount namespace of its own (root is needed)"; exit 77; }
  USERS_NAMESPACE=own exec unshare -m "$0"
fi
. "$(dirname "$0")/lib.sh"
mount -t tmpfs tmpfs /var/lib && mount -t tmpfs tmpfs /run || { echo "not run: nothing can be mounted here"; exit 77; }
as() { setpriv "--reuid=$1" "--regid=$1" --clear-groups "${@:2}"; }
forger=65533
chmod 711 "$W"
install -m 755 "$targets/chain" "$W/chain"
libc=$(ldd "$W/chain" | awk '$1 ~ /^libc\./ { print $3 }')
id=$(readelf -nW "$libc" | awk '/Build ID/ { print $NF }')
[ -n "$id" ] || { echo "not run: libc has no build-id here"; exit 77; }

# His program is no less a program: only its build-id is libc's.
mkdir "$W/forged"
printf "$(printf '%s' "04000000$(printf '%02x' $((${#id} / 2)))00000003000000474e5500$id" | sed 's/../\\x&/g')" >"$W/note"
objcopy --update-section .note.gnu.build-id="$W/note" "$W/chain" "$W/forged/chain" 2>"$W/err" || fail "objcopy: $(cat "$W/err")"
[ "$(readelf -nW "$W/forged/chain" | awk '/Build ID/ { print $NF }')" = "$id" ] || fail "the build-id is not libc's"
chown -R $forger:$forger "$W/forged"

start_collector
enroll=$(fleetprof-collector token --data "$W/data" --board board) && fleetprof enroll --collector "127.0.0.1:$A" --token "$enroll" >"$W/enroll.log" 2>&1 || fail "enroll: $(tail -n 1 "$W/enroll.log")"
B=/var/lib/fleetprof
fleetprofd --window 1s --collector "127.0.0.1:$A" || fail "the daemon ended with $?"
started+=("$(cat /run/fleetprof/fleetprofd.pid)")
tables() { fleetprof status --format json | json "d['tables']['$1']"; }
of() { profile "{service=\"$1\"}" -d limit=100000 | json "$2"; }
has_samples() { [ "$(of "$1" "d['samples'] > 40")" = yes ]; }
run_as() { # USER SERVICE SAMPLER PROGRAM
  as "$1" fleetprof run --service "$2" --sampler "$3" --hz 199 -- "$4" 2 >/dev/null 2>"$W/err" || fail "$2: $(cat "$W/err")"
  until_true 20 has_samples "$2" || fail "no samples of $2"
  say "$2: $(of "$2" "'%.1f %% of %d samples complete' % (100 * d['stacks']['complete'], d['samples'])"), $(tables ready) tables"
}
is_whole() { [ "$(of "$1" "d['stacks']['complete'] >= .97")" = yes ] || fail "$1: $(of "$1" "d['stacks']"): $(profile "{service=\"$1\"}" -d format=folded | grep '^\[' | head -n 3)"; }

for sampler in timer perf; do
  run_as $forger forged-$sampler $sampler "$W/forged/chain"
  run_as "$ordinary" first-$sampler $sampler "$W/chain" # samples before its tables exist are incomplete
  run_as "$ordinary" other-$sampler $sampler "$W/chain"
  is_whole other-$sampler
done
