# SPDX-License-Identifier: Apache-2.0
# Sourced after lib.sh: a collector whose queries are held at an event (tests/torture/preloads/held_query.c), so that a test waits
# for events and judges counts, on however slow a machine.
. "$(dirname "${BASH_SOURCE[0]}")/queries.sh"
export HELD=$W/held
mkdir "$HELD"

# held_collector OPTION...: starts one; exit status 77 where a program takes no preload.
held_collector() {
  A=$(port)
  H=$(port)
  ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 LD_PRELOAD=$(dirname "$targets")/torture/targets/held_query.so \
    collector_up "$@"
  grep -q held_query.so "/proc/$COLLECTOR/maps" || { without "held queries" "this collector takes no LD_PRELOAD"; exit 77; }
}
logged() { grep -c "^$1" "$HELD/log" 2>/dev/null; } # logged block|packed
# hold [N]: queries wait at the Nth block from now (the next one); let_go: no more.
hold() { echo $(($(logged block) + ${1:-1})) >"$HELD/gate.new" && mv "$HELD/gate.new" "$HELD/gate"; }
let_go() { rm "$HELD/gate"; }
has_begun() { [ "$(logged block)" -ge "$1" ]; }
# asks COUNT PATH [TOKEN]: sends one query, and when that is held COUNT - 1 more, until `gone`
# closes all. (If all were sent at once, one beyond the limit would find no place before the first
# is taken up.)
asks() {
  local begun
  begun=$(logged block)
  [ -p "$W/go" ] || mkfifo "$W/go"
  python "$door/ask.py" "$H" "$2" "$1" close ${3:+"$3"} <"$W/go" &
  ASKER=$!
  started+=($ASKER)
  exec 7>"$W/go"
  until_true $LONG has_begun $((begun + 1)) || fail "no query begins"
  echo more >&7
  until_true $LONG are_asked "$1" || fail "$(metric fleetprof_queries_waiting) wait, $(metric fleetprof_queries_running) run of $1"
}
gone() {
  echo go >&7
  exec 7>&-
  wait $ASKER || fail "what asks ended with $?"
}
