#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The page, in a browser: the share of whole stacks, the reasons for short stacks, and the remedies.
. "$(dirname "$0")/lib.sh"
if ! command -v chromium >/dev/null; then
  without chromium "the page is not looked at"
  exit 0
fi
start_collector
enroll board
B=$W/board-board
run --service deep --hz 250 -- "$targets/deep_stack" 1000 800 >/dev/null || fail "deep_stack"

# seen SELECTOR [VIEW]: the page's visible text, in one line.
seen() {
  local match
  match=$(/usr/bin/python3 -c 'import sys, urllib.parse; print(urllib.parse.quote(sys.argv[1]))' "$1")
  HOME=$W chromium --headless --no-sandbox --disable-gpu --user-data-dir="$W/chromium" --virtual-time-budget=4000 \
    --dump-dom "http://127.0.0.1:$H/?match=$match&view=${2:-profile}" 2>"$W/chromium.log" | tr '\n' ' '
}
# Ten looks, of some seconds each.
says() { page=$(seen '{service="deep"}' "${2:-}"); [[ $page == *"$1"* ]]; }
until_true 1 says '<span class="end truncated"><i></i>100.0 % truncated</span>' || fail "the page: $page"
[[ $page == *"truncated</span></dt><dd>cut before the first function: "*'% in <span class="name">deep_stack</span>, which was at work'* ]] || fail "no word on why: $page"
[[ $page =~ \<div\ id=\"stacks\"\> && $page =~ \<details\ id=\"stacks-why\"\> ]] || fail "it is hidden: $page"
[[ $page == *'bottom</a></td>'* && $page != *'>[truncated]</a></td>'* ]] || fail "the table: $page"
until_true 1 says '>100.0 % truncated</td>' fleet || fail "the board's row: $page"

# Without stacks nothing about stacks is shown.
run --service deep --collect pc-lr --hz 250 -- "$targets/truth" 0.5 >/dev/null || fail "pairs"
has_pairs() { [ "$(profile '{service="deep",thread="truth"}' | json "d['samples'] > 0 and d['stacks']['weight'] == 0")" = yes ]; }
until_true 20 has_pairs || fail "no pairs"
[[ $(seen '{service="deep",thread="truth"}') == *'<div id="stacks" hidden="">'* ]] || fail "lone PCs have stacks on the page"
