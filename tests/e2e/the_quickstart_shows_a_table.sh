#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The README's first command: a function table with shares, a URL, and no process left. While it is
# up, all commands in its last lines, the README and the cookbook's shell queries work unchanged,
# except those marked as needing more. It uses separate ports: another quickstart may take the usual
# ones between its check and its listening.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/quickstart.sh"
cd "$root" || exit 1
A=$(port) H=$(port)
offered() { sed -n "s/^$1: *//p" "$W/up"; }
is_left() { [ "$(pgrep -fc "$W/data" || true)" != 0 ]; }
quickstart_up --data "$W/data" --http "127.0.0.1:$H" --agents "127.0.0.1:$A"
[ "$(grep -cE '[0-9] *%.*%.*%' "$W/up")" -ge 3 ] || fail "no table: $(cat "$W/up")"
grep -qx "the data: $W/data, which stays" "$W/up" || fail "where the data is is not told: $(cat "$W/up")"
grep -q '^  built [0-9]* %$' "$W/up" || fail "how far the build is is not told: $(cat "$W/up")"
[ "$(grep -c '^  built' "$W/up")" -le 5 ] || fail "a flood: $(cat "$W/up")"
curl -fs "$(offered 'the page')" | grep -q '/app\.js\|"app\.js"' || fail "no page at $(offered 'the page')"
# In another shell, in another folder, with a PATH without it, on a terminal without a browser.
own=$(offered 'profile your own' | sed "s|PROGRAM ARG\.\.\..*|'$targets/truth' 1|")
(cd / && unset DISPLAY WAYLAND_DISPLAY && PATH=/usr/bin:/bin script -qec "$own" /dev/null </dev/null) >"$W/own" 2>&1 || fail "$own ends with $?: $(cat "$W/own")"
text=$(tr -d '\r' <"$W/own" | sed -n 's/^fleetprof: .*; as text: //p')
(cd / && PATH=/usr/bin:/bin && eval "$text") >"$W/flame" 2>&1 && grep -qE '%.* alpha_sixty( |$)' "$W/flame" || fail "no flame graph by '$text': $(cat "$W/own" "$W/flame")"
(eval "$(offered 'ask its daemon')") >"$W/status" || fail "$(offered 'ask its daemon') ends with $?"
grep -q ' python3-demo ' "$W/status" || fail "its daemon knows nothing of the demonstration: $(cat "$W/status")"
! tr '\0' ' ' <"/proc/$(cat "$W/data/board/fleetprofd.pid")/cmdline" | grep -q on-demand || fail "its daemon leaves with the last program"
(cd "$W" && eval "$(offered 'a token for it')") || fail "$(offered 'a token for it') ends with $?"
[ -s "$W/token" ] || fail "no token"
asked=0
while IFS= read -r line; do
  [[ $line != *needs* ]] || continue
  (cd "$W" && eval "$line") >"$W/answer" 2>&1
  code=$?
  [ $code = 0 ] || { [ $code = 3 ] && [[ $line == *--fail-over* ]]; } || fail "README: $line ends with $code: $(cat "$W/answer")"
  [ -s "$W/answer" ] || [[ $line == *' -o '* ]] || fail "README: $line says nothing"
  asked=$((asked + 1))
done < <({ sed -n '/^## Ask the collector/,/^## On your boards/s/^    \(curl\|fleetprof\) /\1 /p' README.md
  sed -n '/^## From a shell/,/^Weights/s/^    \(curl\|fleetprof\) /\1 /p' docs/cookbook.md; } |
  sed "s|127.0.0.1:7480|127.0.0.1:$H|; s|^fleetprof [a-z]*|& --http http://127.0.0.1:$H|")
[ $asked -ge 20 ] || fail "only $asked questions of the README and the cookbook"
kill $up # a shell's background job ignores what Ctrl-C sends
wait $up
until_true 10 eval '! is_left' || fail "it left a process: $(pgrep -fa "$W/data")"
say "$asked questions of the README and the cookbook answered"
