#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The page behind a proxy that terminates TLS and serves it below a path: it works completely, with
# a token, and has all headers that it has without a proxy. A site of another origin, in the browser
# of a user with read access, cannot frame it, read an answer, or change anything. Neither can a
# site after DNS rebinding, nor a request without a token.
. "$(dirname "$0")/lib.sh"
export FLEETPROF_WEB=${FLEETPROF_WEB:-${FLEETPROF_TARGETS%/tests/targets}/web}
if ! command -v chromium >/dev/null || [ ! -d "$FLEETPROF_WEB/node_modules/playwright-core" ]; then
  not_run "no chromium, or a build without tests of the page"
fi
start_collector
enroll board
run --service truth --hz 250 -- "$targets/truth" 1 >/dev/null || fail "truth"
has_samples() { curl -fs "http://127.0.0.1:$H/api/v1/load?by=service" | grep -q '"truth"'; }
until_true 30 has_samples || fail "no samples"
token=$(fleetprof-collector token --data "$W/data" --role read) || fail "a token"
writer=$(fleetprof-collector token --data "$W/data" --role symbols) || fail "a token to write"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=proxy -keyout "$W/key" -out "$W/cert" 2>/dev/null || fail "a certificate"
HOME=$W timeout 90 node "$(dirname "$0")/door/behind_a_proxy.mjs" "http://127.0.0.1:$H" "$token" "$writer" "$W/key" "$W/cert" \
  00112233445566778899aabbccddeeff00112233 "$W/pictures" >"$W/page.log" 2>&1 || fail "$(cat "$W/page.log")"
kill -0 "$COLLECTOR" || fail "the collector has ended"
