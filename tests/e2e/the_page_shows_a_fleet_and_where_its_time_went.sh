#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every view of the page in a browser, on real data: light, dark and on a phone, checked by
# axe-core, and with hostile names in every answer. Its functions too: by keyboard, by dragging and
# dropping, exports opened, copied commands run. Its console stays empty, its policy gets no report,
# and no other host gets a request.
. "$(dirname "$0")/lib.sh"
if ! command -v chromium >/dev/null || [ ! -d "${FLEETPROF_WEB:-/nowhere}/node_modules/playwright-core" ]; then
  without chromium "the page is not looked at"
  exit 0
fi
start_collector
enroll board
run --service truth --hz 250 -- "$targets/truth" 2 >/dev/null || fail "truth"
run --service other --sampler timer --hz 250 -- "$targets/deep_stack" 50 800 >/dev/null || fail "deep_stack"
is_named() { profile '{service="truth"}' | json "any(f['name'] == 'alpha_sixty' for f in d['functions'])" | grep -q yes; }
until_true 30 is_named || fail "no names"
pictures=${FLEETPROF_WEB%/web}/pictures # kept, to be looked at
SYMBOLS_TOKEN=$(fleetprof-collector token --data "$W/data" --role symbols) || fail "a token"
export SYMBOLS_TOKEN SYMBOLS_FILE=$targets/truth
for script in page_deeds page_flame page_states page; do
  HOME=$W timeout 400 node "$(dirname "$0")/$script.mjs" "http://127.0.0.1:$H" "$pictures" >"$W/page.log" 2>&1 || fail "$(cat "$W/page.log")"
done
say "pictures of the views: $pictures"

# As served: compressed, typed, cached by its ETag.
headers=$(curl -fs --compressed -D - -o "$W/app.js" "http://127.0.0.1:$H/app.js" | tr -d '\r')
etag=$(sed -n 's/^ETag: //p' <<<"$headers")
for field in 'Content-Encoding: gzip' 'X-Content-Type-Options: nosniff' 'Content-Type: text/javascript; charset=utf-8' 'X-Frame-Options: DENY'; do
  grep -q "^$field" <<<"$headers" || fail "no $field: $headers"
done
grep -q "^Content-Security-Policy: default-src 'none'" <<<"$headers" || fail "no policy: $headers"
[ "$(curl -s -o /dev/null -w '%{http_code}' -H "If-None-Match: $etag" "http://127.0.0.1:$H/app.js")" = 304 ] || fail "the ETag $etag is no use"
cmp -s "$W/app.js" "$FLEETPROF_WEB/dist/app.js" || fail "another script than was built"
