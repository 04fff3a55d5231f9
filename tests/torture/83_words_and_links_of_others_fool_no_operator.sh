#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Names with control sequences: of a board's service, program, thread and module, of a program, in
# an archive, in a collector's answers, and in databases that SQLite quotes. No command that prints
# them, on either output, prints a sequence that moves a terminal. No command with --output writes
# through another user's link, even while that user makes the link again all the time. Another
# user's STATUS shows only the number of programs.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../e2e/queries.sh"
. "$(dirname "$0")/../e2e/words.sh"
printed=0
prints() { # prints COMMAND...: its output is safe for a terminal, whatever its status
  timeout $LONG "$@" >"$W/out" 2>"$W/err" </dev/null
  [ $? != 124 ] || fail "$*: hangs"
  is_clean "$W/out" && is_clean "$W/err" || fail "$*: a terminal would obey: $(cat -v "$W/out" "$W/err" | head -c 600)"
  [ -s "$W/out" ] || [ -s "$W/err" ] || fail "$*: prints nothing"
  printed=$((printed + 1))
}
start_collector
enroll strange
python "$door/strangers_names.py" "$B" "127.0.0.1:$A" terminal >"$W/strange" || fail "$(tail -n 1 "$W/strange")"
grep -q acked "$W/strange" || say "every such name is refused: $(cat "$W/strange")"
enroll here
program=$W/$'e\e[2Jtr\u202euth\u009b31m'
cp "$targets/truth" "$program"
fleetprof run --state "$B" --collector "127.0.0.1:$A" -- "$program" .3 >/dev/null 2>"$W/err" || fail "the program ended with $?"
is_clean "$W/err" || fail "run: $(cat -v "$W/err")"
until_true $LONG books_are_closed here || fail "the books do not close: $(books here)"
fleetprof run --output "$W/own.fp" -- "$program" .3 >/dev/null 2>"$W/err" && is_clean "$W/err" || fail "run --output: $(cat -v "$W/err")"

at=(--http "http://127.0.0.1:$H" --from -1d)
evil=$'no\e[2J\u202efunction\u009b31m'
for by in service thread module function exe board; do prints fleetprof query --by $by "${at[@]}"; done
prints fleetprof query "${at[@]}"
prints fleetprof query --step 3600 --by service "${at[@]}"
prints fleetprof query "{service=\"$evil\"}" "${at[@]}"
for question in function callers callees; do prints fleetprof query --$question "$evil" "${at[@]}"; done
prints fleetprof diff '{board="strange"}' '{board="here"}' "${at[@]}"
prints fleetprof diff "$evil" "$evil" "${at[@]}"
prints fleetprof report "$W/own.fp"
! is_long || prints fleetprof report "$W/own.fp" --diff "$W/own.fp"
prints fleetprof report "$W/$evil"
prints fleetprof status --state "$B"
prints fleetprof status --state "$B" --format json
prints fleetprof doctor --state "$B"
prints fleetprof run --state "$B" -- "$W/$evil"
prints fleetprof enroll --collector "127.0.0.1:$A" --token "$evil" --state "$W/board-none"
prints fleetprof upload "$W/$evil" --http "http://127.0.0.1:$H"
hostile_image "$W/image.tar"
cp "$W/image.tar" "$W/$evil.tar"
fleetprof-collector token --data "$W/data" --role symbols >"$W/token" || fail "no token"
for image in "$W/image.tar" "$W/$evil.tar"; do
  prints fleetprof upload --dry-run "$image"
  prints fleetprof upload --dry-run --format json "$image"
  prints fleetprof upload "$image" --http "http://127.0.0.1:$H" --token-file "$W/token"
done
prints fleetprof-collector revoke --data "$W/data" --board "$evil"
prints fleetprof-collector token --data "$W/data" --list
prints fleetprof-collector check --data "$W/data"
hostile_answers
for command in query "diff a b" "upload $targets/truth"; do
  # shellcheck disable=SC2086
  prints fleetprof $command --http "$ANSWERS"
done
stop_collector
is_clean "$W/collector.log" || fail "the collector's log: $(cat -v "$W/collector.log" | tail -n 5)"
cp -a "$W/data" "$W/whole"
for database in $(pick landing "access landing debug"); do # access: tests/e2e/words_of_others_move_no_terminal.sh
  rm -rf "$W/data" && cp -a "$W/whole" "$W/data"
  damage_database "$W/data/$database.db"
  for command in "" check "backup $W/backup.tar"; do
    # shellcheck disable=SC2086
    timeout 5 fleetprof-collector $command --data "$W/data" --agents 127.0.0.1:0 --http 127.0.0.1:0 >"$W/out" 2>&1 </dev/null
    is_clean "$W/out" || fail "$command of a damaged $database.db: $(cat -v "$W/out" | head -c 600)"
    [ ! -s "$W/out" ] || printed=$((printed + 1))
  done
done
say "$printed commands said what they had to"

# Links, made again and again during writes and queries of STATUS.
lay_links || { without "links and STATUS" "there is no other user here (root is needed)"; exit 0; }
: >"$W/all/races"
as_ordinary sh -c "while [ -e '$W/all/races' ]; do ln -sf '$W/own/precious' '$W/all/race.fp'; rm -f '$W/all/race.fp'; done" 2>/dev/null &
racer=$!
for ((i = 0; i < $(pick 3 500); i++)); do
  fleetprof report "$W/own.fp" --format folded --output "$W/all/race.fp" >/dev/null 2>&1
  [ -z "$(ls "$W/own")" ] || break
done
rm "$W/all/races"
wait $racer 2>/dev/null
[ -z "$(ls "$W/own")" ] || fail "round $i: a file was written through another user's link"
refused_link fleetprof run --output "$W/all/p.fp" -- true
for format in $(pick pprof "folded json pprof speedscope callgrind perf-script"); do
  refused_link fleetprof report "$W/own.fp" --format $format --output "$W/all/folder/x"
  refused_link fleetprof report "$W/own.fp" --format $format --output "$W/all/p.fp"
done
B=$W/all/state
fleetprofd --state "$B" --collector $NOWHERE || fail "no daemon"
started+=("$(cat "$B/fleetprofd.pid")")
fleetprof run --state "$B" --service ours --label secret=word -- "$targets/truth" 4 >/dev/null 2>&1 &
runner=$!
is_seen() { [ "$(fleetprof status --state "$B" --format json | json "len(d['targets'])")" -gt 0 ]; }
until_true 60 is_seen || fail "root does not see the program: $(fleetprof status --state "$B")"
as_ordinary env HOME=/ fleetprof status --state "$B" --format json >"$W/out" 2>"$W/err"
if [ -s "$W/out" ]; then
  [ "$(json "d['targets'] == [] and d['notes'] == [] and d['targets_hidden'] >= 1" <"$W/out")" = yes ] || fail "another user sees $(head -c 400 "$W/out")"
  ! grep -qE "ours|truth|word" "$W/out" || fail "another user is told of the program: $(cat "$W/out")"
else
  say "another user is not let to the daemon: $(head -n 1 "$W/err")"
fi
wait $runner || fail "the program ended with $?"
