#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where there is no Node: a build with the page says so, and what to do about it; one with -DWITH_WEB=OFF is built, and its
# page's place says what to type, as everything else answers.  (deploy/quickstart.sh --no-page is such a build.)
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir "$W/bin"
while IFS= read -r -d : folder; do # all of PATH but Node
  for program in "$folder"/*; do
    case ${program##*/} in node | nodejs | npm | npx | corepack) ;; *) ln -s "$program" "$W/bin/" 2>/dev/null ;; esac
  done
done <<<"$PATH:"
without_node() { PATH=$W/bin "$@"; }
without_node bash -c '! command -v node && ! command -v nodejs && ! command -v npm' || fail "Node is not hidden"
command -v ccache >/dev/null && export CMAKE_C_COMPILER_LAUNCHER=ccache
options=(-DCMAKE_BUILD_TYPE=Debug -DWITH_AGENT=OFF)
# CMake looks into the system's own folders, too, whatever PATH is.
! without_node cmake -S "$root" -B "$W/with" "${options[@]}" -DNODE_PROGRAM=/nowhere/node -DNPM_PROGRAM=/nowhere/npm >"$W/out" 2>&1 || fail "a page is made without Node"
tr -s ' \n' ' ' <"$W/out" | grep -q 'apt-get install nodejs npm, or build without it: -DWITH_WEB=OFF' || fail "what helps is not told: $(tail -n 5 "$W/out")"
without_node cmake -S "$root" -B "$W/build" "${options[@]}" -DWITH_WEB=OFF >"$W/out" 2>&1 || fail "the configuration: $(tail -n 5 "$W/out")"
without_node cmake --build "$W/build" -j 2 >"$W/out" 2>&1 || fail "the build: $(tail -n 5 "$W/out")"
[ ! -e "$W/build/web" ] || fail "something of the page was made: $(ls "$W/build/web")"
cmake --install "$W/build" --prefix "$W/installed" >"$W/out" 2>&1 || fail "the installation: $(tail -n 5 "$W/out")"

PATH=$W/installed/bin:$PATH
start_collector
curl -fs "http://127.0.0.1:$H/" >"$W/page" || fail "no page"
cmp -s "$W/page" "$root/web/without/index.html" || fail "another page: $(head -n 5 "$W/page")"
curl -fs -o "$W/icon" "http://127.0.0.1:$H/icon.svg" && cmp -s "$W/icon" "$root/web/without/icon.svg" || fail "no icon"
[ "$(curl -s -o "$W/problem" -w '%{http_code}' "http://127.0.0.1:$H/app.js")" = 404 ] || fail "a script of no page: $(head -c 100 "$W/problem")"
while IFS= read -r command; do # what the page offers
  eval "${command//127.0.0.1:7480/127.0.0.1:$H} -fsS" >"$W/answer" 2>&1 || fail "$command ends with $?: $(cat "$W/answer")"
done < <(sed -n 's/^curl /&/p; s/^<pre>curl /curl /p' "$root/web/without/index.html" | sed 's,</pre>,,; s/ -o [a-z.]*//')
curl -fs "http://127.0.0.1:$H/api/v1/boards" | json "d == {'boards': []}" | grep -q yes || fail "the API does not answer"
