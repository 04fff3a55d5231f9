#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Certificates of eight seconds are renewed, and the root that signs them is replaced, while boards
# deliver and the collector is killed in between: no batch is lost, and no board needs manual work.
# Two boards are real; a simulated fleet, which has only the first root, delivers beside them, and
# --finish waits for it.
. "$(dirname "$0")/lib.sh"
fleet=$(dirname "$0")/../fleet
seconds=$(pick 4 60)
start_collector --certificate-life 8s
rollover() { fleetprof-collector rollover --data "$W/data" "$@"; }
for name in a-north a-south; do
  enroll $name
  run -- "$targets/truth" "$seconds" >/dev/null &
  started+=($!)
done
cp "$W/data/ca/root.pem" "$W/first.pem"
rollover --finish >/dev/null 2>&1 && fail "what was not begun is finished"
recordings=()
for file in "$fleet"/captured/*; do recordings+=(--recording "$file"); done
"${FLEETPROF_TARGETS%/targets}/fleet/fleetsim" --data "$W/data" --agents "127.0.0.1:$A" "${recordings[@]}" --boards "$(pick 20 500)" \
  --backlog 10 --duration "${seconds}s" --window 500ms --truth "$W/truth" >"$W/fleet" 2>"$W/fleet.err" &
boards=$!
started+=($boards)

# The first half: rotation.
has_renewed() { grep -q "$1: certificate renewed$" "$W/data/renewals.log"; }
both_renewed() { has_renewed a-north && has_renewed a-south; }
until_true 30 both_renewed || fail "the boards do not renew: $(tail -n 3 "$W/data/renewals.log")"
say "both boards have renewed under the first root"

# The second half: another root.
rollover --start >/dev/null || fail "no second root"
stop_collector KILL
collector_up --certificate-life 8s
are_over() { rollover --status >"$W/status" && ! grep -q '^waits for: a-' "$W/status"; }
until_true 60 are_over || fail "the boards do not come under the second root: $(rollover --status)"
roots_of() { grep -c BEGIN "$W/board-$1/ca.pem"; }
[ "$(roots_of a-north)" = 2 ] && [ "$(roots_of a-south)" = 2 ] || fail "the boards do not know both roots"
openssl verify -CAfile "$W/data/ca/next.pem" -purpose sslclient "$W/board-a-north/board.pem" >/dev/null 2>&1 || fail "a-north's certificate is not by the second root"
rollover --finish >"$W/finish" 2>&1 && fail "finished, though simulated boards know the first root alone"
grep -q '^waits for: ' "$W/finish" || fail "it is not said who is waited for: $(cat "$W/finish")"
wait $boards || fail "the simulated boards end with $?: $(tail -n 1 "$W/fleet.err")"
agreed=$("$fleet/truth_agrees.py" "$W/truth" "http://127.0.0.1:$H") || fail "$agreed"
say "$agreed"
rollover --finish --force >/dev/null || fail "not finished by force"
know_the_second_alone() { cmp -s "$W/board-a-north/ca.pem" "$W/data/ca/root.pem" && cmp -s "$W/board-a-south/ca.pem" "$W/data/ca/root.pem"; }
until_true 60 know_the_second_alone || fail "the boards do not drop the first root: $(tail -n 3 "$W/data/audit.log")"
cmp -s "$W/first.pem" "$W/data/ca/root.pem" && fail "the root is still the first"
[ "$(rollover --status)" = "no rollover is under way" ] || fail "it is not over: $(rollover --status)"
for name in a-north a-south; do
  B=$W/board-$name
  run -- "$targets/truth" 1 >/dev/null || fail "$name: the program ended with $?"
  until_true 30 books_are_closed $name || fail "$name: the books do not close: $(books $name)"
  read -r produced stored dropped pending < <(books $name)
  [ "$dropped" = 0 ] && [ "$produced" = "$stored" ] || fail "$name lost samples: $(books $name)"
  say "$name: $stored of $produced samples stored"
done
grep -q 'rollover begun' "$W/data/audit.log" && grep -q 'rollover finished by force' "$W/data/audit.log" || fail "the audit log does not tell of it"

# A board that enrolls now gets the new root, and does not trust the first. The collector detects
# within ten seconds that its root has changed.
enrolls() { (enroll late) >"$W/late" 2>&1; }
until_true 30 enrolls || fail "late does not enroll: $(cat "$W/late")"
B=$W/board-late
cmp -s "$B/ca.pem" "$W/data/ca/root.pem" || fail "late does not pin the second root"
