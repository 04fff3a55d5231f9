#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `fleetprof query` and `fleetprof diff` print the HTTP API's data, as a table or as a file; a
# failed gate exits with 3; an error is one line on stderr and status 1 or 2. A token is passed by
# file or environment, over verified TLS, and in no other way.
. "$(dirname "$0")/lib.sh"
start_collector
enroll here
run --service truth --label release=one --hz 499 -- "$targets/truth" 1 >"$W/truth.log" || fail "truth ended with $?"
run --service other --hz 499 -- awk 'BEGIN { for (i = 0; i < 3000000; i++) s += i * i }' || fail "awk ended with $?"
until_true 20 names_are_settled || fail "names go on changing"
ask() { fleetprof query --http "http://127.0.0.1:$H" "$@"; }
# expect STATUS TEXT COMMAND...: it exits with STATUS, and its only line on stderr has TEXT.
expect() {
  local status=$1 text=$2 got
  shift 2
  "$@" >"$W/out" 2>"$W/err" && got=0 || got=$?
  [ "$got" = "$status" ] || fail "$* exits $got and not $status: $(cat "$W/err")"
  [ -z "$text" ] || grep -q "^fleetprof: .*$text" "$W/err" || fail "$* does not say '$text': $(cat "$W/err")"
  [ "$(wc -l <"$W/err")" -le 2 ] || fail "$*: more than two lines: $(cat "$W/err")"
}

# refused TARGET: the collector's own words, as the command line would show them.
refused() { curl -s "http://127.0.0.1:$H$1" | sed 's/.*"detail":"\([^"]*\)".*/fleetprof: \1/' >&2; return 1; }

# Tables: the heaviest function, by load, over time, in detail, and its callers.
heaviest=$(profile '{service="truth"}' | json "d['functions'][0]['name']") || fail "no profile"
for words in "truth" "service=truth" "board=here,service=~tr.*" '{service="truth"}'; do
  ask "$words" | sed -n '/95 % interval/{n;p}' | grep -qF "$heaviest" || fail "query $words: $(ask "$words" | head -n 5)"
done
ask --by service | grep -q ' truth$' || fail "no load by service"
ask truth --step 60 | grep -q 'Z .* CPUs' || fail "no load over time"
ask truth --function "$heaviest" | grep -q '+0x.*(truth)' || fail "no offsets: $(ask truth --function "$heaviest")"
ask truth --callers "$heaviest" | grep -q ' % ' || fail "no callers"
ask truth --from -3d --to -2d | grep -q 'nothing was sampled there at that time' || fail "an empty table is not explained"

# Files: as the API sends them; an existing file is replaced only when the new one is complete.
from=$(($(date +%s) - 600)) to=$(date +%s) match='{service="truth"}'
for format in tree folded speedscope callgrind perf-script; do
  ask truth --from $from --to $to --format $format -o "$W/file" || fail "no $format"
  api profile --data-urlencode "match=$match" -d from=$from -d to=$to -d format=$format | cmp -s - "$W/file" || fail "$format differs"
done
ask truth --format pprof >"$W/pprof.gz" && gzip -t "$W/pprof.gz" || fail "no pprof"
expect 1 'no answer' fleetprof query --http http://127.0.0.1:1 truth -o "$W/file"
[ -s "$W/file" ] || fail "a failure has emptied the file"

# Errors, and whether the user or the collector causes them.
expect 1 'match: ' ask '{service='
expect 1 'the nearest: ' ask truth --function "${heaviest}x"
expect 1 'has a label "servce"; the nearest is "service"' ask truth --by servce
expect 1 'has a label "relaese"; the nearest is "release"' ask truth --by relaese
expect 0 '' ask truth --from -3d --to -2d
expect 1 'query: trth: has no samples at this time, nor at any other time: .*  The nearest service is truth$' ask trth
[ ! -s "$W/out" ] || fail "an empty table of what was never sampled: $(cat "$W/out")"
for words in "service=trth,board=here" '{board="here",service="trth"}' "trth --by thread" "trth --format flame" "trth --step 60"; do
  # shellcheck disable=SC2086
  expect 1 'The nearest service is truth$' ask $words
done
expect 1 'The services are other, truth$' ask nobody
expect 0 '' ask nobody --format json
expect 1 'No samples have a label servce; the nearest is service$' ask servce=truth
expect 1 'No samples have a label zzzzzzzzzz; there are .*service' ask zzzzzzzzzz=~x
expect 1 'The values of release are one$' ask release=two
expect 1 'The values of board are here$' ask 'service=truth,board=hree'
expect 1 'frmat: is no parameter of this path, which takes match .* tells what they mean$' refused "/api/v1/profile?frmat=top"
expect 2 'one of:' ask truth --format toop
expect 2 'give one of them' ask truth --by board --callers main
expect 2 'neither http' fleetprof query --http ftp://x truth
expect 2 'more than one selector' ask truth other

# A gate. One short run a side is too little for a verdict; more_boards_weaken_no_verdict.sh has
# enough.
gate() { fleetprof diff --http "http://127.0.0.1:$H" "$@"; }
expect 0 'unclear.*: there are too few independent stretches of time' gate truth other --fail-over 2%
grep -q '^rows: share of totals,' "$W/out" && grep -q '; about these boards$' "$W/out" || fail "no table beside the verdict: $(cat "$W/out")"
expect 0 '' gate truth other --measure cpu --of self --scope these
grep -q '^rows: CPU of self per board-hour, as a part of all that a takes$' "$W/out" ||
  fail "the measure that was asked for: $(cat "$W/out")"
expect 2 '--scope: these or fleet' gate truth other --scope all
expect 0 '' gate truth other
expect 0 '' gate truth service=truth,board=here --fail-over 0%
expect 2 'one selection twice' gate truth truth
expect 1 'diff: b, truht, has no samples from ' gate truth truht --fail-over 2%
expect 1 'there are some at other times: is --a-from right' gate truth --b-from -5m --fail-over 2%
expect 1 'nor at any other time: is the selector right?  The nearest service is truth$' gate truth truht
expect 1 'b, release=1.6, has no samples .*  The values of release are one$' gate truth release=1.6
[ ! -s "$W/out" ] || fail "a table of zeros: $(cat "$W/out")"
expect 1 'b, truht, has no samples' gate truth truht --format json --fail-over 2%
expect 0 '' gate truth truht --format json
expect 0 '' gate truth 'board!~there' --fail-over 100%
# A stripped program and its next build cannot be compared, and the gate prints the remedy.
cat >"$W/app.c" <<'C'
__attribute__((noinline)) static long burn(volatile long n) { while (n > 0) n--; return n; }
int main(void) { return (int)burn(WORK); }
C
for build in 1 2; do
  mkdir "$W/$build" && cc -O1 -s -DWORK=${build}50000000L -Wl,--build-id=sha1 -o "$W/$build/app" "$W/app.c" || fail "the compiler"
  run --service "app$build" --hz 499 -- "$W/$build/app" || fail "app$build ended with $?"
done
expect 1 'nothing to judge by; upload symbols' gate app1 app2 --fail-over 2%
grep -q '\[[0-9a-f]\{8\}\]' "$W/out" || fail "the builds are not told apart: $(cat "$W/out")"
expect 0 '' gate app1 app2
ask app1 | tail -n 1 | grep -q '^app: [0-9.]* % of all has no function names: .*upload.* (fleetprof upload PATH\.\.\.)$' ||
  fail "why names lack is not told: $(ask app1)"
ask app1 --format flame | tail -n 1 | grep -q '^app: .* has no function names' || fail "a flame graph does not tell why names lack"
ask app1 --format json | grep -q 'has no function names' && fail "JSON tells what is for people"
ask truth | grep -q '^truth: .* has no function names' && fail "what has names is told to have none"
gate truth --b-from -5m --format json | json "(d['a']['total'], d['b']['total'] > 0)" | grep -qxF '(0, True)' \
  || fail "what was before is not the minutes before: $(gate truth --b-from -5m)"
gate truth other --format json | json "len(d['functions']) > 0" | grep -q yes || fail "no JSON"

# A board also takes its token from a file; the read token in the environment is not used for it.
fleetprof-collector token --data "$W/data" --board there >"$W/token" || fail "no token"
expect 0 '' fleetprof enroll --collector "127.0.0.1:$A" --state "$W/board-there" --token-file "$W/token"
fleetprof-collector token --data "$W/data" --role read >"$W/reads" || fail "no token"
token=$(fleetprof-collector token --data "$W/data" --board yonder)
FLEETPROF_TOKEN_FILE=$W/reads expect 0 '' fleetprof enroll --collector "127.0.0.1:$A" --state "$W/board-yonder" --token "$token"

# From elsewhere: TLS by the fleet's own CA and a token, which is never sent in the clear.
fleetprof-collector token --data "$W/data" --role read >"$W/token" || fail "no token"
expect 2 'not sent over http to another machine' fleetprof query --http http://10.0.0.1:80 --token-file "$W/token"
stop_collector
H=$(port)
fleetprof-collector --data "$W/data" --agents "127.0.0.1:$A" --http "0.0.0.0:$H" >>"$W/collector.log" 2>&1 &
COLLECTOR=$!
far() { fleetprof query --http "https://localhost:$H" "$@" truth; }
listens() { curl -ks "https://localhost:$H/healthz" >/dev/null; }
until_true 10 listens || fail "the collector does not listen"
expect 1 'unknown CA .*it names .*localhost, 127.0.0.1, ::1): a collector has a CA of its own: give its ca/root.pem.* by --ca FILE$' far --token-file "$W/token"
expect 1 'token --data DIR --role read. makes a token .* by --token-file FILE or FLEETPROF_TOKEN)$' far --ca "$W/data/ca/root.pem"
fleetprof-collector token --data "$W/data" --role symbols >"$W/symbols" || fail "no token"
expect 1 'its role is another; .*--role read. makes a token .* by --token-file FILE' far --ca "$W/data/ca/root.pem" --token-file "$W/symbols"
echo 'two words' >"$W/words"
expect 1 'has characters that no token has (it is taken from --token-file' far --ca "$W/data/ca/root.pem" --token-file "$W/words"
expect 1 '--role symbols. makes a token .* by --token-file FILE' fleetprof upload "$targets/truth" --http "https://localhost:$H" --ca "$W/data/ca/root.pem" --token-file "$W/token"
expect 0 '' far --ca "$W/data/ca/root.pem" --token-file "$W/token"
grep -qF "$heaviest" "$W/out" || fail "no table over TLS"
curl -fsS --cacert "$W/data/ca/root.pem" -H "Authorization: Bearer $(cat "$W/token")" --resolve "$(hostname):$H:127.0.0.1" "https://$(hostname):$H/api/v1/boards" >"$W/out" 2>&1 ||
  fail "curl to the collector's own name: $(cat "$W/out")" # as in the README
FLEETPROF_TOKEN=$(cat "$W/token") expect 0 '' far --ca "$W/data/ca/root.pem"
other() { fleetprof query --http "https://127.0.0.2:$H" --ca "$W/data/ca/root.pem" --token-file "$W/token" "$@"; }
expect 1 'is for another address (it names .*localhost, 127.0.0.1, ::1): ask it by one of these, or start the collector with --public-name' other
# Plain HTTP to the TLS port gets an error that explains it, for any request.
expect 1 'this port speaks HTTPS and the request is plain HTTP: write https://' fleetprof query --http "http://localhost:$H" truth
for method in GET HEAD POST PUT; do
  body=()
  [ $method = GET ] || [ $method = HEAD ] || body=(--data-binary "@$targets/truth")
  [ $method = HEAD ] && body=(-I)
  [ "$(curl -sm 10 -o "$W/out" -w '%{http_code} %{content_type}' -X $method "${body[@]}" "http://127.0.0.1:$H/api/v1/boards")" = "400 application/problem+json" ] ||
    fail "a plain $method to the HTTPS port: $(cat "$W/out")"
done
[ "$(curl -sm 10 "http://127.0.0.1:$H/" | json 'd["status"]')" = 400 ] || fail "the answer to plain HTTP is no problem+json"
far --ca "$W/data/ca/root.pem" --token-file "$W/token" >/dev/null || fail "the port no longer serves"
# The certificate contains the collector's host names; a client that trusts its root sees no
# difference.
stop_collector
fleetprof-collector --data "$W/data" --agents "127.0.0.1:$A" --http "0.0.0.0:$H" --public-name press.example.org --public-name 127.0.0.2 >"$W/named.log" 2>&1 &
COLLECTOR=$!
until_true 10 listens || fail "the collector does not listen: $(cat "$W/named.log")"
grep -q "ready collector: https://press.example.org:$H/" "$W/named.log" || fail "the name is not that of links: $(cat "$W/named.log")"
expect 0 '' other truth
curl -fsS --cacert "$W/data/ca/root.pem" --resolve "press.example.org:$H:127.0.0.1" "https://press.example.org:$H/healthz" >"$W/out" 2>&1 || fail "curl by the public name: $(cat "$W/out")"
fleetprof-collector --data "$W/none" --public-name 'a b' >"$W/out" 2>&1 && fail "a name with a blank"
grep -q -- "--public-name a b: is neither a host name nor a numeric address" "$W/out" && [ ! -e "$W/none" ] || fail "a wrong name: $(cat "$W/out")"
