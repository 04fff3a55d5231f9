#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a terminal, tables and flame graphs fit its width, have colour if it supports it and NO_COLOR
# is unset, and only letters of its locale. A pipe gets neither colour nor a width. No name of a
# program breaks a line.
. "$(dirname "$0")/lib.sh"
on_terminal() { /usr/bin/python3 "$(dirname "$0")/on_terminal.py" "$@"; }
escape=$(printf '\033')
export FLEETPROF_CONFIG= TERM=vt100 LANG=C PYTHONCOERCECLOCALE=0 # which would set LC_CTYPE
unset NO_COLOR LC_ALL LC_CTYPE
fleetprof run --output "$W/truth.fp" --hz 499 -- "$targets/truth" 1 >"$W/truth.log" || fail "truth ended with $?"
report() { fleetprof report "$W/truth.fp" "$@"; }
# checked NAME: the text in FILE, without colours and progress lines, is at most 80 columns wide,
# and ASCII.
checked() {
  sed "s/$escape\[[0-9;]*m//g; s/.*\r$escape\[K//" "$W/$1" | /usr/bin/python3 -c '
import sys
for line in sys.stdin.buffer.read().decode("ascii").split("\n"):
    is_told = line.startswith(("stacks:", "  ")) or "samples" in line
    if not line.isprintable() or (len(line) > 80 and not is_told): sys.exit(repr(line))' || fail "$1: see above"
}
for format in flame top; do
  on_terminal 80 fleetprof report --format "$format" "$W/truth.fp" >"$W/$format.vt100" || fail "--format $format ends with $?"
  grep -q alpha_sixty "$W/$format.vt100" || fail "$format: $(cat "$W/$format.vt100")"
  grep -q "$escape" "$W/$format.vt100" || fail "$format: a terminal gets no colour"
  checked "$format.vt100"
  report --format $format | grep -c "$escape" >/dev/null && fail "$format: a pipe gets colour"
done
for words in NO_COLOR=1 TERM=dumb TERM=; do
  env "$words" "$(dirname "$0")/on_terminal.py" 80 fleetprof report "$W/truth.fp" >"$W/plain"
  grep -q alpha_sixty "$W/plain" || fail "$words: $(cat "$W/plain")"
  ! grep -q "$escape" "$W/plain" || fail "$words: colour"
done
NO_COLOR='' on_terminal 80 fleetprof report "$W/truth.fp" | grep -c "$escape" >/dev/null || fail "an empty NO_COLOR has taken the colour"
grep -q '[-#]\{10\}' "$W/flame.vt100" || fail "no bars: $(cat "$W/flame.vt100")"
LANG=C.UTF-8 report --format flame | grep -c "$(printf '\342\226\210')" >/dev/null || fail "no blocks where the locale is UTF-8"
LC_ALL=C LANG=C.UTF-8 report --format flame | grep -c '##' >/dev/null || fail "LC_ALL is not above LANG"
report --format flame --depth 3 | grep -c 'deeper: --depth' >/dev/null || fail "no word on what is deeper"
[ "$(report --format flame --limit 3 | grep -c '%  .*[#-]  ')" -le 6 ] || fail "more lines than --limit"

# Letters outside of the locale, in all text output; machine formats have whole names.
printf '__attribute__((noinline)) static long gr\303\266\303\237e(volatile long n) { while (n > 0) n--; return n; }
int main(void) { return (int)gr\303\266\303\237e(300000000); }\n' >"$W/size.c"
cc -O1 -o "$W/size" "$W/size.c" && fleetprof run --output "$W/size.fp" --hz 499 -- "$W/size" || fail "the program with a name in UTF-8"
whole=$(printf 'gr\303\266\303\237e')
for shown in --format=top --format=flame "--diff=$W/size.fp"; do
  fleetprof report "$shown" "$W/size.fp" >"$W/size.ascii" || fail "$shown ends with $?"
  grep -q ' gr??e  (size' "$W/size.ascii" && ! LC_ALL=C grep -q '[^ -~]' "$W/size.ascii" || fail "$shown is not ASCII: $(cat "$W/size.ascii")"
  LC_ALL=C.UTF-8 fleetprof report "$shown" "$W/size.fp" | grep -c " $whole  (size" >/dev/null || fail "$shown: no $whole where the locale is UTF-8"
done
for format in json folded; do
  fleetprof report --format $format "$W/size.fp" | grep -c "$whole" >/dev/null || fail "$format has lost a letter"
done

# One renderer: the collector's answer is drawn in the same way, and shows the same shares up to
# rounding.
start_collector
enroll here
run --service truth --label "who=$(printf 'x\342\200\256drawkcab')" --hz 499 -- "$targets/truth" 1 >"$W/truth.log" || fail "truth ended with $?"
until_true 20 names_are_settled || fail "names go on changing"
ask() { fleetprof query --http "http://127.0.0.1:$H" "$@"; }
ask truth --format flame >"$W/answer" || fail "query ends with $?"
for name in main work choose alpha_sixty; do grep -q "%  .*[#-]  .* $name  (truth)" "$W/answer" || fail "$name has no bar: $(cat "$W/answer")"; done
H=$H on_terminal 80 fleetprof query --http "http://127.0.0.1:$H" truth --format flame >"$W/query.vt100"
grep -q "$escape" "$W/query.vt100" || fail "query: a terminal gets no colour"
checked query.vt100
on_terminal 80 fleetprof query --http "http://127.0.0.1:$H" --by who >"$W/who"
grep -q 'x???drawkcab' "$W/who" || fail "no such label: $(cat "$W/who")"
grep -q "$escape\[2J\|$(printf '\342\200\256')" "$W/who" && fail "a label turns the line"
run --service sizes --label "size=$whole" --hz 499 -- "$W/size" || fail "sizes ended with $?"
for asked in "sizes --by size" "--by size --step 60" "sizes --function main"; do
  # shellcheck disable=SC2086
  ask $asked >"$W/size.ascii" || fail "query $asked ends with $?"
  ! LC_ALL=C grep -q '[^ -~]' "$W/size.ascii" || fail "$asked is not ASCII: $(cat "$W/size.ascii")"
done
run --service "$whole" -- sleep 0.1 || fail "a service with a name in UTF-8 ended with $?"
status >"$W/status" || fail "status ends with $?"
grep -q ' gr??e ' "$W/status" && ! LC_ALL=C grep -q '[^ -~]' "$W/status" || fail "status is not ASCII: $(cat "$W/status")"
LC_ALL=C.UTF-8 status | grep -c " $whole " >/dev/null || fail "status has no $whole where the locale is UTF-8"
status --format json | grep -c "\"$whole\"" >/dev/null || fail "JSON has lost a letter of a service"
ask sizes --by size | grep -c ' gr??e$' >/dev/null || fail "no label: $(ask sizes --by size)"
ask sizes --by size --format json | grep -c "$whole" >/dev/null || fail "JSON has lost a letter"
say "$(grep -c '%' "$W/answer") lines of bars"
