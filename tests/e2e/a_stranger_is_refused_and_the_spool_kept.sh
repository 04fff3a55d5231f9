#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A wrong, used or expired token, an unknown collector, a revoked board, an expired certificate:
# each gets a clear error, status shows it, and the spool keeps the samples.
. "$(dirname "$0")/lib.sh"
start_collector
refused() {   # refused WHAT PATTERN COMMAND...
  local what=$1 pattern=$2
  shift 2
  "$@" >"$W/out" 2>&1 && fail "$what was accepted"
  [ "$(wc -l <"$W/out")" = 1 ] || fail "$what: not one line: $(cat "$W/out")"
  grep -qiE "$pattern" "$W/out" || fail "$what: '$(cat "$W/out")' does not say why"
}
token=$(fleetprof-collector token --data "$W/data" --board one)
wrong=$(echo "$token" | sed 's/^fpt_..../fpt_AAAA/')
refused "a wrong token" "token" fleetprof enroll --collector "127.0.0.1:$A" --token "$wrong" --state "$W/board-x"
refused "a token that is none" "token" fleetprof enroll --collector "127.0.0.1:$A" --token nonsense --state "$W/board-x"
fleetprof-collector --data "$W/data2" --agents 127.0.0.1:0 --http 127.0.0.1:0 2>"$W/second.log" &
second=$!
until_true 10 grep -q ready "$W/second.log" || fail "a second collector: $(cat "$W/second.log")"
kill $second
wait $second
other=$(fleetprof-collector token --data "$W/data2" --board one)
refused "another fleet's token" "fingerprint|CA|certificate" fleetprof enroll --collector "127.0.0.1:$A" --token "$other" --state "$W/board-x"
short=$(fleetprof-collector token --data "$W/data" --board two --ttl 1s)
sleep 1.2
refused "an expired token" "expired" fleetprof enroll --collector "127.0.0.1:$A" --token "$short" --state "$W/board-x"
fleetprof enroll --collector "127.0.0.1:$A" --token "$token" --state "$W/board-x" >/dev/null || fail "the good token is refused"
refused "a used token" "used" fleetprof enroll --collector "127.0.0.1:$A" --token "$token" --state "$W/board-y"

keeps_spool() {   # keeps_spool WHAT PATTERN
  run --flush-timeout 3s -- "$targets/truth" 1 >/dev/null || fail "$1: the program ended with $?"
  until_true 10 status_says "$2" || fail "$1: status does not say it: $(status)"
  [ "$(status --format json | json "d['spool']['records']")" -gt 0 ] || fail "$1: the spool is empty"
  say "$1: $(status --format json | json "d['uplink']['why']")"
}
status_says() { status --format json | json "d['uplink']['why']" | grep -qiE "$1"; }

# Revoked while connected: cut within a minute, and not served again.
enroll revoked
run -- "$targets/truth" 1 >/dev/null
fleetprof-collector revoke --data "$W/data" --board revoked || fail "revoke ended with $?"
before=$(books revoked)
until_true 60 eval '! status --format json | json "d[\"uplink\"][\"state\"]" | grep -q "^connected"' || fail "the revoked board is still connected"
keeps_spool "a revoked board" "revoked"
[ "$(books revoked | cut -d' ' -f2)" = "$(echo "$before" | cut -d' ' -f2)" ] || fail "data of a revoked board was stored"
kill "$(cat "$B/fleetprofd.pid")"

# An expired certificate of an unknown board, signed by the fleet's own CA yesterday: only a known
# board may renew (certificates_renew_themselves.sh).
enroll expired
openssl req -new -key "$B/board.key" -subj /CN=unheard-of -out "$W/csr" 2>/dev/null
printf 'extendedKeyUsage=clientAuth\n' >"$W/ext"
ca_key=$(find "$W/data/ca" -name '*.key' ! -name '*server*' | head -n 1)
ca_cert=$(find "$W/data/ca" \( -name 'root*.pem' -o -name 'ca*.pem' \) | head -n 1)
/usr/bin/openssl x509 -req -in "$W/csr" -CA "$ca_cert" -CAkey "$ca_key" -set_serial 77 -days -1 -extfile "$W/ext" -out "$W/old.pem" >/dev/null 2>&1 \
  || fail "openssl cannot make an expired certificate"
cp "$W/old.pem" "$B/board.pem"
keeps_spool "an expired certificate of nobody" "expired"
kill "$(cat "$B/fleetprofd.pid")"

# Another fleet's collector on the same address.
enroll stray
stop_collector
mv "$W/data" "$W/data-old"
collector_up
keeps_spool "an unknown collector" "CA|unknown|verif|self.signed|issuer"
