#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Without Node, a build with the page reports that and the remedy. A build with -DWITH_WEB=OFF
# succeeds; in place of the page it shows the command that adds it, and all other requests work. The
# same by `deploy/quickstart.sh --no-page`, whose last lines explain how to restore the page.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/quickstart.sh"
mkdir "$W/bin"
for program in node nodejs npm npx corepack; do # each call is recorded and fails
  printf '#!/bin/sh\necho "$0 $*" >>"%s"\nexit 127\n' "$W/asked" >"$W/bin/$program"
  chmod +x "$W/bin/$program"
done
PATH=$W/bin:$PATH
# CMake also searches the system's own folders, for any PATH.
! cmake -S "$root" -B "$W/with" -DNODE_PROGRAM=/nowhere/node -DNPM_PROGRAM=/nowhere/npm >"$W/out" 2>&1 || fail "a page is made without Node"
rm -f "$W/asked"
tr -s ' \n' ' ' <"$W/out" | grep -q 'apt-get install nodejs npm, or build without it: -DWITH_WEB=OFF' || fail "what helps is not told: $(tail -n 5 "$W/out")"

A=$(port) H=$(port)
touch "$W/begun"
quickstart_up --no-page --data "$W/data" --http "127.0.0.1:$H" --agents "127.0.0.1:$A"
grep -qx 'building a release into build/, without the page' "$W/up" || fail "it does not say so: $(cat "$W/up")"
made=$(find "$root/build/web" -newer "$W/begun" 2>/dev/null)
[ -z "$made" ] || fail "something of the page was made: $made"
[ ! -e "$W/asked" ] || fail "Node was asked for: $(cat "$W/asked")"
mend=$(sed -n 's/^the collector: .*, built without its page (with it: \(.*\) && \.\/deploy\/quickstart\.sh)$/\1/p' "$W/up")
grep -q '^WITH_WEB:BOOL=OFF' "$root/build/CMakeCache.txt" && (cd "$root" && eval "${mend:-false}") && ! grep -qs '^WITH_WEB:BOOL=OFF' "$root/build/CMakeCache.txt" ||
  fail "the page does not come back by '$mend': $(tail -n 8 "$W/up")"
curl -fs "http://127.0.0.1:$H/" >"$W/page" || fail "no page"
cmp -s "$W/page" "$root/web/without/index.html" || fail "another page: $(head -n 5 "$W/page")"
curl -fs -o "$W/icon" "http://127.0.0.1:$H/icon.svg" && cmp -s "$W/icon" "$root/web/without/icon.svg" || fail "no icon"
[ "$(curl -s -o "$W/problem" -w '%{http_code}' "http://127.0.0.1:$H/app.js")" = 404 ] || fail "a script of no page: $(head -c 100 "$W/problem")"
while IFS= read -r command; do # commands shown on the page
  eval "${command//127.0.0.1:7480/127.0.0.1:$H} -fsS" >"$W/answer" 2>&1 || fail "$command ends with $?: $(cat "$W/answer")"
done < <(sed -n 's/^curl /&/p; s/^<pre>curl /curl /p' "$root/web/without/index.html" | sed 's,</pre>,,; s/ -o [a-z.]*//')
[ "$(profile '{service="python3-demo"}' | json "d['samples'] > 0")" = yes ] || fail "the API does not answer"
kill $up # a shell's background job ignores what Ctrl-C sends
wait $up
is_gone $up || fail "it does not end"
