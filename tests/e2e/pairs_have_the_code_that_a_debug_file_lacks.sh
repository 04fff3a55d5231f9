#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An operator has uploaded a program's separate debug file, which has all names and no code. Pairs
# of PC and link register need the code: a board that ships pairs gets a request for its stripped
# program, which then serves beside the debug file; a board that ships stacks does not.
. "$(dirname "$0")/lib.sh"
start_collector
enroll board
cc -O2 -g -Wl,--build-id=sha1 -o "$W/whole" "$(dirname "$0")/../targets/mixed_callers.c" || fail "the compiler"
objcopy --only-keep-debug "$W/whole" "$W/whole.debug"
strip -o "$W/calls" "$W/whole"
token=$(fleetprof-collector token --data "$W/data" --role symbols)
id=$(readelf -n "$W/whole" | sed -n 's/.*Build ID: //p')
[ "$(curl -sS -o "$W/put" -w '%{http_code}' -X PUT -H "Authorization: Bearer $token" --data-binary @"$W/whole.debug" \
  "http://127.0.0.1:$H/api/v1/debug/$id")" = 201 ] || fail "upload: $(cat "$W/put")"

callers() { api callers --data-urlencode "match={service=\"$1\"}" -d function=leaf_9; }
is_true() { [ "$(callers "$1" | json "$2")" = yes ]; }
sample() { run --service "$1" --sampler perf --hz 997 "${@:2}" -- "$W/calls" 0.5 >/dev/null || fail "$1 ended with $?"; }
sent() { find "$W/data" -type f -size "$(stat -c %s "$W/calls")c" | wc -l; }

sample stacks
until_true 10 is_true stacks "d['stack']['weight'] > 0" || fail "stacks have no leaf_9: $(callers stacks)"
[ "$(sent)" = 0 ] || fail "a board that ships stacks has sent what nobody needs"
sample pairs --collect pc-lr
until_true 10 is_true pairs "d['lr']['by_unwind_row'] > 0 and d['lr']['code_not_seen'] == 0" || fail "the code is never looked at: $(callers pairs)"
is_true pairs "{e['function'] for e in d['edges']} <= {'often', 'seldom'}" || fail "callers: $(callers pairs)"
[ "$(sent)" = 1 ] || fail "the program was sent $(sent) times"
