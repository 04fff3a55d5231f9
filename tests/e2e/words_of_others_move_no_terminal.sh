#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Names from archives, from a damaged database and from the collector reach a terminal without
# control sequences: escape sequences, controls of one and two bytes, marks that turn the direction
# of writing. In JSON they are complete, and escaped. No file is written through another user's
# link.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/words.sh"
hostile_image "$W/image.tar"
fleetprof upload --dry-run "$W/image.tar" >"$W/out" 2>"$W/err" || fail "upload --dry-run ended with $?: $(cat -v "$W/err")"
is_clean "$W/out" && is_clean "$W/err" || fail "a terminal would obey: $(cat -v "$W/out" "$W/err")"
[ "$(grep -c 'truth  ' "$W/out")" = 6 ] || fail "not a line a file: $(cat -v "$W/out")"
fleetprof upload --dry-run --format json "$W/image.tar" >"$W/out" || fail "upload --format json ended with $?"
is_clean "$W/out" || fail "JSON that a terminal would obey: $(cat -v "$W/out")"
[ "$(json "sum(any(c in f['name'] for c in '\x1b\u202e\u2066\x9b\n\r') for f in d['files'])" <"$W/out")" = 6 ] || fail "the names are not whole: $(cat "$W/out")"

# SQLite's messages about a database contain the names in it.
start_collector
enroll one
stop_collector
damage_database "$W/data/access.db"
for command in "" "check" "revoke --list" "token"; do
  # shellcheck disable=SC2086
  timeout 60 fleetprof-collector $command --data "$W/data" >"$W/out" 2>&1 && fail "'$command' of a damaged database ended with 0: $(cat -v "$W/out")"
  is_clean "$W/out" || fail "'$command': a terminal would obey: $(cat -v "$W/out")"
done

# A collector's reasons for rejecting a board, and its answers.
hostile_answers
fleetprof query --http "$ANSWERS" >"$W/out" 2>&1 && fail "a refused question ended with 0"
grep -q 'no ' "$W/out" && is_clean "$W/out" || fail "query: $(cat -v "$W/out")"

# Links of another user, for any command.
lay_links || { without links "there is nobody else to lay them (root is needed)"; exit 0; }
refused_link fleetprof run --output "$W/all/p.fp" -- true
refused_link fleetprof run --output "$W/all/folder/p.fp" -- true
fleetprof run --output "$W/all/q.fp" -- "$targets/truth" .2 >/dev/null || fail "a file of one's own: $?"
refused_link fleetprof run --output "$W/all/q.fp" -- true
as_ordinary sh -c ": >$W/all/his.fp; chmod 666 $W/all/his.fp"
refused_link fleetprof run --output "$W/all/his.fp" -- true
refused_link fleetprof report "$W/all/q.fp" --format folded --output "$W/all/p.fp"
refused_link fleetprof report "$W/all/q.fp" --format folded --output "$W/all/folder/x"
ln -s "$W/own" "$W/all/mine"
fleetprof report "$W/all/q.fp" --format folded --output "$W/all/mine/folded" && [ -s "$W/own/folded" ] || fail "a link of one's own is not followed"
fleetprof report "$W/all/q.fp" --format folded --output /dev/stderr 2>"$W/err" && cmp -s "$W/err" "$W/own/folded" || fail "/dev/stderr is not written"
