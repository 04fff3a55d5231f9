#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A spool with files of noise, zeros, truncated, of another version, a terabyte long, with
# impossible lengths and with flipped bits: the daemon starts at once, sets bad data aside and
# counts it, and ships the rest.
. "$(dirname "$0")/lib.sh"
files=$(dirname "$0")/spool_files.py
start_collector
enroll rotten
"$files" copies "$B/spool" "$(dirname "$0")/../fleet/captured/redis.spool" "$(pick 250000 6000000)"
read -r _ whole _ < <("$files" count "$B/spool")
for kind in noise zeros cut version huge length flips; do "$files" spoil "$B/spool" $kind; done
begun=$(date +%s%N)
fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "the daemon does not start: $(tail -n 3 "$B/fleetprofd.log")"
is_answering() { status --format json >/dev/null 2>&1; }
until_true 10 is_answering || fail "the daemon does not answer"
took=$((($(date +%s%N) - begun) / 1000000))
[ $took -lt 5000 ] || fail "the start took $took ms" # the spool's own second is in tests/unit/spool
queue_is_empty() { [ "$(asked "d['spool']['entries']")" = 0 ]; }
until_true 30 queue_is_empty || fail "the queue stands still: $(status)"
bad=$(asked "d['spool']['corrupt_segments']") torn=$(asked "d['spool']['torn_tails']")
[ "$bad" -ge 4 ] && [ "$torn" -ge 1 ] || fail "$bad corrupt files and $torn torn tails: $(asked "d['spool']")"
status | grep -q "$bad corrupt files; $torn torn tail" || fail "status does not tell: $(status)"
stored=$(api loss | json "d['stored']")
"$files" copies "$W/seven" "$(dirname "$0")/../fleet/captured/redis.spool" 420000
read -r _ seven _ < <("$files" count "$W/seven")
[ "$stored" -ge $((whole - seven)) ] && [ "$stored" -le "$whole" ] || fail "stored $stored of $whole samples, $seven in bad files"
aside=$(find "$B/spool" -name '*.corrupt' | wc -l)
[ "$aside" -ge 1 ] && [ "$aside" -le 4 ] || fail "$aside files set aside"
run --hz 199 -- "$targets/truth" 1 >/dev/null || fail "the program ended with $?"
queue_is_empty || until_true 10 queue_is_empty || fail "the queue stands still: $(status)"
say "up after $took ms; $bad corrupt files, $torn torn tails, $aside set aside; $stored of $whole samples stored"
