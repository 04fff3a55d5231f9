#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tokens are listed beside the running collector, with their roles, ends and last uses, and revoked
# by their ids. Within ten seconds a revoked token is rejected everywhere, and others still work.
. "$(dirname "$0")/lib.sh"
start_collector
tokens() { fleetprof-collector token --data "$W/data" "$@"; }
reader=$(tokens --role read --ttl 1d) && symbols=$(tokens --role symbols) && board=$(tokens --board press-7) || fail "no tokens"
ask() { curl -sm 5 -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $1" "http://127.0.0.1:$H/api/v1/debug/files"; }
[ "$(ask "$reader")" = 200 ] && [ "$(ask "$symbols")" = 200 ] || fail "the tokens are not taken"
listed() { tokens --list --format json | json "$1"; }
[ "$(listed 'sorted((t["role"], t["board"], t["state"]) for t in d["tokens"]) == [("enroll", "press-7", "good"), ("read", None, "good"), ("symbols", None, "good")]')" = yes ] || fail "the list: $(tokens --list)"
is_noted() { [ "$(listed 'all(t["used"] is not None for t in d["tokens"] if t["role"] != "enroll")')" = yes ]; }
until_true 25 is_noted || fail "no last use: $(tokens --list)"
tokens --list >"$W/list"
grep -q "${reader:0:8} *read *good" "$W/list" && [ "$(wc -l <"$W/list")" = 4 ] || fail "the list as text: $(cat "$W/list")"
grep -qF "${reader:8}" "$W/list" && fail "the list shows a token whole"
id=$(listed '[t["id"] for t in d["tokens"] if t["role"] == "read"][0]')
tokens --revoke "$id" || fail "not revoked"
is_out() { [ "$(ask "$reader")" = 401 ]; }
until_true 15 is_out || fail "the token is taken 15 s after it was revoked"
[ "$(ask "$symbols")" = 200 ] || fail "another token is not taken any more"
grep -q "token ${reader:0:8}... revoked: role read" "$W/data/audit.log" || fail "not in the audit log: $(tail -n 2 "$W/data/audit.log")"
[ "$(tokens --revoke "$symbols" --format json | json 'list(d) == ["revoked"]')" = yes ] || fail "a token is not revoked by itself"
tokens --revoke "$id" 2>"$W/err" && fail "revoked twice"
grep -q "there is no such token" "$W/err" || fail "it is not said why: $(cat "$W/err")"
[ "$(listed 'len(d["tokens"])')" = 1 ] || fail "the list afterwards: $(tokens --list)"
say "out, $(grep -c . "$W/list") lines listed"
