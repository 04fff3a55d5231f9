#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each command's output is available as JSON by --format json: one value, alone on stdout, with the
# members listed in docs/running.md. Without that option, or with a format of another command, it is
# text.
. "$(dirname "$0")/lib.sh"
export FLEETPROF_CONFIG=
# told NAME EXPRESSION COMMAND...: COMMAND --format json prints one value d, for which EXPRESSION is
# true.
told() {
  local name=$1 expression=$2 status=0
  shift 2
  "$@" --format json >"$W/$name.json" 2>"$W/$name.err" || status=$?
  [ "$status" -le "${allowed:-0}" ] || fail "$name ends with $status: $(cat "$W/$name.err")"
  /usr/bin/python3 -c '
import json, sys
def refuse(word): raise ValueError(word)
d = json.load(open(sys.argv[1]), parse_constant=refuse)
if not eval(sys.argv[2]): sys.exit(repr(d))' "$W/$name.json" "$expression" || fail "$name: $(head -c 600 "$W/$name.json")"
}
start_collector
data=$W/data
told token 'd["token"].startswith("fpt_") and d["role"] == "enroll" and d["board"] == "here" and d["until"][-1] == "Z"' \
  fleetprof-collector token --data "$data" --board here --ttl 5m
token=$(json "d['token']" <"$W/token.json")
told tokens 'len(d["tokens"]) == 1 and set(d["tokens"][0]) == {"id", "token", "role", "board", "state", "made", "until", "used"}' \
  fleetprof-collector token --data "$data" --list
B=$W/board-here
told enroll "d == {'board': 'here', 'state': '$B', 'collector': '127.0.0.1:$A'}" \
  env FLEETPROF_TOKEN="$token" fleetprof enroll --collector "127.0.0.1:$A" --state "$B"
run --service truth --hz 499 -- "$targets/truth" 1 >"$W/truth.log" || fail "truth ended with $?"
fleetprof run --output "$W/truth.fp" -- "$targets/truth" 0.2 >"$W/truth.log" || fail "truth ended with $?"
http="http://127.0.0.1:$H"

told status 'd["pid"] > 1 and d["targets"] is not None' fleetprof status --state "$B"
allowed=1 told doctor 'len(d["checks"]) > 10 and d["failed"] == sum(c["verdict"] == "fail" for c in d["checks"]) and all(c["why"] for c in d["checks"])' \
  fleetprof doctor --state "$B"
allowed=1 told ctl 'd == {"verb": "rate", "hz": 7.5, "daemons": [], "targets": 0}' fleetprof ctl rate 7.5 --state "$B"
fleetprof run --state "$B" --service sleeper -- sleep 60 &
started+=($!)
sleeper=$!
until_true 10 sh -c "fleetprof status --state '$B' | grep -q sleeper" || fail "no sleeper"
told paused 'd["targets"] == 1 and d["daemons"][0]["names"].startswith("sleeper (pid ") and d["daemons"][0]["socket"]' fleetprof ctl pause --state "$B"
kill $sleeper
wait $sleeper || :
told report 'd["functions"] and d["total"] > 0' fleetprof report "$W/truth.fp"
told differs 'd["functions"]' fleetprof report "$W/truth.fp" --diff "$W/truth.fp"
told query 'd["functions"][0]["name"]' fleetprof query truth --http "$http"
told load 'd["rows"][0]["name"]' fleetprof query --by service --http "$http"
told diff 'd["functions"] is not None' fleetprof diff truth board=here --http "$http"
mkdir "$W/files"
cp "$targets/truth" "$W/files/truth
of two lines"
told planned 'd["dry_run"] and d["found"] == 1 and d["sent"] == 0 and d["files"][0]["verdict"] == "send" and "\n" in d["files"][0]["name"]' \
  fleetprof upload --dry-run "$W/files"
FLEETPROF_TOKEN=$(fleetprof-collector token --data "$data" --role symbols)
export FLEETPROF_TOKEN
told upload 'd["seen"] and d["found"] == 1 and d["failed"] == 0 and len(d["files"][0]["id"]) >= 16' fleetprof upload --http "$http" "$W/files"
told unseen 'not d["seen"] and d["sent"] == 1' fleetprof upload --http "$http" "$targets/phases"
fleetprof upload --http "$http" "$targets/phases" | grep -q '^None of it has been sampled so far: no board has used' || fail "an upload of what no board has used says nothing"
! fleetprof upload --http "$http" "$W/files" | grep -q 'None of it' || fail "an upload of what a board has used is called unused"
unset FLEETPROF_TOKEN
told check 'd["faults"] == [] and d["files"] > 2' fleetprof-collector check --data "$data"
told backup "d['file'] == '$W/backup.tar' and d['files'] > 2 and d['left_out'] == [] and d['bytes'] > 4096" fleetprof-collector backup --data "$data" "$W/backup.tar"
told restore 'd["files"] > 2 and d["left_out"] == []' fleetprof-collector restore "$W/backup.tar" --data "$W/again"
told before 'd == {"under_way": False}' fleetprof-collector rollover --data "$W/again" --status
told begun 'd == {"under_way": True}' fleetprof-collector rollover --data "$W/again" --start
told during 'd["under_way"] and d["boards"] == 1 and d["waits_for"] == ["here"]' fleetprof-collector rollover --data "$W/again" --status
told revoke 'd == {"revoked": "here"}' fleetprof-collector revoke --data "$W/again" --board here
told accept 'd == {"accepted": []}' fleetprof-collector accept --data "$W/again"

# Every command has it except those without output of their own: run is its program, name and
# translate are filters.
for command in $(fleetprof --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/fleetprof:\1/p') fleetprof-collector:{token,revoke,rollover,backup,restore,check,accept}; do
  case $command in *:run | *:name | *:translate) continue ;; esac
  "${command%:*}" "${command#*:}" --help | grep -q -- '--format [a-z|-]*json' || fail "$command has no --format"
done
# Otherwise text, and an invalid format is an error.
FLEETPROF_FORMAT=speedscope fleetprof-collector token --data "$data" | grep -qx 'fpt_[^ ]*' || fail "a word of another command's changes the token"
for command in "fleetprof doctor" "fleetprof ctl pause" "fleetprof enroll" "fleetprof upload" "fleetprof-collector token" "fleetprof-collector check"; do
  $command --format xml >"$W/out" 2>"$W/err" && fail "$command takes xml"
  [ $? = 2 ] || fail "$command: xml is no wrong usage"
  grep -q "'xml' is neither text nor json" "$W/err" || fail "$command: $(cat "$W/err")"
done
say "$(ls "$W"/*.json | wc -l) answers parsed"
