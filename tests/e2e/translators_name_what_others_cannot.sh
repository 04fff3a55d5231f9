#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Translators give names where files do not: a list of symbols and three projects' addr2line in a
# report, agreeing with each other. In the collector they are selected by rules and used at once, or
# for a slow translator in the next answer. A translator that misbehaves costs only its names.
. "$(dirname "$0")/lib.sh"
bare=$W/bare
cp "$targets/truth_inlined" "$W/truth"
nm -n "$W/truth" >"$W/truth.nm"
objcopy --strip-all "$W/truth" "$bare"
functions='alpha_sixty beta_thirty gamma_ten'

has_all() { for f in $functions; do grep -q "$f" "$1" || return 1; done; }

fleetprof run --output "$W/x.fp" --hz 499 -- "$bare" 1 >"$W/out" 2>&1 || fail "the run: $(cat "$W/out")"
translate() { # NAME COMMAND: a report by COMMAND has names; without inlined functions, the innermost, or the outermost of each address
  fleetprof report "$W/x.fp" --format folded --translator "$2" >"$W/$1.folded" 2>"$W/err" || fail "$1: $(cat "$W/err")"
  grep -q "work;choose;burn" "$W/$1.folded" || has_all "$W/$1.folded" || fail "$1 does not name: $(head -n 3 "$W/$1.folded")"
}
translate_inlined() { # NAME COMMAND: the same with whole chains, as binutils prints them
  translate "$1" "$2"
  for f in $functions; do grep -q "work;by_the_right;choose;$f;burn" "$W/$1.folded" || fail "$1 has no chain of $f: $(head -n 3 "$W/$1.folded")"; done
  cmp -s "$W/$1.folded" "$W/binutils-inlined.folded" || fail "$1 differs: $(diff "$W/$1.folded" "$W/binutils-inlined.folded" | head -n 4)"
}
translate list "fleetprof translate $W/truth.nm"
translate list-f "fleetprof translate -f $W/truth.nm"
translate binutils "addr2line -f -e $W/truth"
translate_inlined binutils-inlined "addr2line -a -f -i -e $W/truth"
translate_inlined binutils-pretty "addr2line -p -f -i -e $W/truth"
tools='binutils'
if command -v llvm-symbolizer >/dev/null; then
  translate_inlined llvm "llvm-symbolizer -e $W/truth"
  translate_inlined llvm-gnu "llvm-symbolizer --output-style=GNU -a -e $W/truth"
  translate_inlined llvm-addr2line "llvm-addr2line -a -f -i -e $W/truth"
  tools="$tools, llvm"
else
  without "llvm's translators" "llvm-symbolizer is not installed"
fi
if command -v eu-addr2line >/dev/null; then
  translate elfutils "eu-addr2line -f -e $W/truth"
  translate_inlined elfutils-inlined "eu-addr2line -a -f -i -e $W/truth"
  tools="$tools, elfutils"
else
  without "elfutils' translator" "eu-addr2line is not installed"
fi
say "in a report: $tools and lists"

# addr2line on a stripped file gives a static function the name of the exported one before it:
# beyond that function's known end the name is not accepted.
cat >"$W/exporting.c" <<'C'
volatile unsigned long sink;
__attribute__((noipa)) void front(long n) { while (n-- > 0) sink += 1; }
__attribute__((noipa)) static void behind(long n) { while (n-- > 0) sink += 3; }
int main(void) {
  for (int i = 0; i < 300; i++) front(10000), behind(1000000);
  return 0;
}
C
cc -O1 -fno-toplevel-reorder -rdynamic -Wl,--build-id -o "$W/whole" "$W/exporting.c" && strip -o "$W/exporting" "$W/whole" || fail "no build"
behind=$(nm "$W/whole" | awk '$3 == "behind" { sub("^0*", "", $1); print "exporting+0x" $1 }')
addr2line -f -e "$W/exporting" "0x${behind#*0x}" | grep -qx front || without "a name that is wrong" "this addr2line does not give it"
fleetprof run --output "$W/exporting.fp" --hz 499 -- "$W/exporting" || fail "the run of exported functions"
fleetprof report "$W/exporting.fp" --translator 'addr2line -a -f -i -C -e "$MODULE"' >"$W/out" 2>"$W/err" || fail "exported functions: $(cat "$W/err")"
grep -q "addresses were named after a function that ends before them" "$W/err" || fail "nobody says that names are not believed: $(cat "$W/err")"
awk -v name="$behind" '$9 == name { hidden = $1 } $9 == "front" { front = $1 } END { exit !(hidden > 80 && front < 10) }' "$W/out" || fail "a wrong name is believed: $(cat "$W/out")"
mkdir "$W/dbg" && cp "$W/whole" "$W/dbg/"
fleetprof report "$W/exporting.fp" --debug "$W/dbg" --translator 'addr2line -a -f -i -C -e "$MODULE"' 2>"$W/err" | awk '$9 == "behind" { behind = $1 } END { exit !(behind > 80) }' && grep -q "ends before" "$W/err" ||
  fail "a wrong name is believed where the right one is known: $(cat "$W/err")"
nm -n "$W/whole" >"$W/whole.nm"
fleetprof report "$W/exporting.fp" --translator "fleetprof translate $W/whole.nm" 2>"$W/err" | grep -q ' behind  ' && [ ! -s "$W/err" ] || fail "a right name is not believed: $(cat "$W/err")"

# If a function has two names, the file's own rule chooses, whichever the translator returns.
cat >"$W/two.c" <<'C'
volatile unsigned long sink;
__attribute__((noipa)) void chosen(long n) { while (n-- > 0) sink += 1; }
void _another(long n) __attribute__((alias("chosen")));
int main(void) {
  for (int i = 0; i < 300; i++) chosen(1000000);
  return 0;
}
C
cc -O1 -Wl,--build-id -o "$W/two" "$W/two.c" || fail "no build of two names"
nm -n "$W/two" | grep -v ' chosen$' >"$W/two.nm"
fleetprof run --output "$W/two.fp" --hz 499 -- "$W/two" || fail "the run of two names"
fleetprof report "$W/two.fp" --translator "fleetprof translate $W/two.nm" >"$W/out" 2>"$W/err" || fail "two names: $(cat "$W/err")"
grep -q ' chosen  ' "$W/out" && ! grep -q _another "$W/out" && [ ! -s "$W/err" ] || fail "a function by its other name: $(cat "$W/out" "$W/err")"

# Lines of a file included into a function do not make a second function of it.
echo 'for (long i = 0; i < n; i++) sink += 5;' >"$W/part.inc"
cat >"$W/mixed.c" <<'C'
volatile unsigned long sink;
__attribute__((noipa)) void blend(long n) {
  for (long i = 0; i < n; i++) sink += 3;
#include "part.inc"
}
int main(void) {
  for (int i = 0; i < 300; i++) blend(500000);
  return 0;
}
C
cc -g -O1 -Wl,--build-id -o "$W/mixed" "$W/mixed.c" || fail "no build of an included file"
fleetprof run --output "$W/mixed.fp" --hz 499 -- "$W/mixed" || fail "the run of an included file"
one_row() { # WHAT: `blend` is one function, of its own file
  fleetprof report "$W/mixed.fp" -f json --translator 'addr2line -a -f -i -C -e "$MODULE"' >"$W/out" 2>"$W/err" || fail "$1: $(cat "$W/err")"
  [ "$(json "[f['file'].rsplit('/')[-1] for f in d['functions'] if f['name'] == 'blend']" <"$W/out")" = "['mixed.c']" ] || fail "$1: $(cat "$W/out" "$W/err")"
}
one_row "an included file"
[ ! -s "$W/err" ] || fail "an included file: $(cat "$W/err")"

# If the program is gone the profile answers, and a translator that would read the program is not
# run.
mv "$W/mixed" "$W/mixed.kept"
one_row "a program that is gone"
grep -q "^fleetprof: report: --translator: had nothing to do for $W/mixed: what was sampled is not there any more; names are those in the profile$" "$W/err" || fail "a program that is gone: $(cat "$W/err")"
cp "$W/two" "$W/mixed"
one_row "another program at its path"
grep -q "had nothing to do for $W/mixed:" "$W/err" || fail "another program at its path: $(cat "$W/err")"
fleetprof report "$W/mixed.fp" --translator "addr2line -a -f -i -e $W/mixed.kept" 2>"$W/err" | grep -q ' blend  ' && [ ! -s "$W/err" ] || fail "a translator with a file of its own: $(cat "$W/err")"
mv "$W/exporting" "$W/exporting.kept"
fleetprof report "$W/exporting.fp" --translator 'addr2line -a -f -i -C -e "$MODULE"' >"$W/out" 2>"$W/err" && fail "names that lack are no failure"
grep -q "had nothing to do for $W/exporting: .* and the profile has not all names" "$W/err" || fail "names that lack: $(cat "$W/err")"
mv "$W/exporting.kept" "$W/exporting"

# One answer a line, as soon as it is queried.
coproc LIST { fleetprof translate "$W/truth.nm"; }
list=$LIST_PID
address=$(awk '$3 == "alpha_sixty" { print $1 }' "$W/truth.nm")
for i in 1 2 3; do
  echo "$address" >&"${LIST[1]}"
  read -r -t 5 answer <&"${LIST[0]}" && [ "$answer" = alpha_sixty+0x0 ] || fail "a conversation: '${answer:-}'"
done
exec {LIST[1]}>&-
wait "$list"

# The column forms need no --format, and a translator that answers only at its end blocks nothing.
mkfifo "$W/fifo"
timeout 20 sh -c "fleetprof report $W/x.fp -F $W/fifo | { a=\$(cat); echo \"\$a\"; } | fleetprof translate $W/truth.nm | paste $W/fifo - >$W/joined" || fail "the fifo's pipeline hangs"
has_all "$W/joined" || fail "the pipeline has no names: $(head -n 3 "$W/joined")"

# The collector.
cat >"$W/rules" <<RULES
# arch at most answers command
no-such-arch * any at-end exit 9
* */bare bounds 1 exec fleetprof translate $W/truth.nm
* */slow any at-end sleep 2.3; fleetprof translate $W/truth.nm
* */dying any at-end head -n 1; exit 7
* */hanging any blank sleep 1000
* */gnu any at-end addr2line -a -f -i -e $W/truth
* */llvm any blank llvm-symbolizer -e $W/truth
* */llvm_gnu any at-end llvm-addr2line -a -f -i -e $W/truth
* */elf any at-end eu-addr2line -a -f -i -e $W/truth
* */two any at-end fleetprof translate $W/two.nm
* */exporting any at-end addr2line -a -f -i -e "\$DEBUG_FILE"
* */script any 2 while read -r address; do echo "\$BUILD_ID"; echo script.c:7; done
RULES
inlining=gnu
command -v llvm-symbolizer >/dev/null && inlining="$inlining llvm llvm_gnu"
command -v eu-addr2line >/dev/null && inlining="$inlining elf"
start_collector --translators "$W/rules"
enroll board1
for name in bare slow dying hanging script $inlining; do
  printf '%s' "$name" >"$W/note"
  cp "$bare" "$W/$name.tmp"
  objcopy --add-section .mark="$W/note" --remove-section .note.gnu.build-id "$W/$name.tmp" "$W/$name.new"
  mkdir -p "$W/bin" && mv "$W/$name.new" "$W/bin/$name"
  run --service "$name" --hz 499 -- "$W/bin/$name" .3 >/dev/null || fail "$name ended with $?"
done
named() { profile "{service=\"$1\"}" -d limit=1000 | share_of_user $functions; }
is_named() { /usr/bin/python3 -c "import sys; sys.exit($(named "$1") < .9)"; }
translator_id() { api debug | json "[m['build_id'] for m in d['modules'] if m['path'].endswith('/$1')][0]"; }
translator() { api debug | json "[m.get('translator') for m in d['modules'] if m['path'].endswith('/$1')][0]['$2']"; }
is_named bare || fail "bare: $(named bare) named; $(api debug)"
[ "$(translator bare instead_of)" = bounds ] || fail "the API does not tell: $(api debug)"
is_named slow && fail "slow was waited for"
until_true 10 is_named slow || fail "slow is not named: $(api debug)"
for name in dying hanging; do
  [ "$(profile "{service=\"$name\"}" | json "d['total'] > 0")" = yes ] || fail "$name has no answer"
done
[[ "$(translator dying failure)" = *"status 7"* || "$(translator dying failure)" = *even* ]] || fail "a translator that died: $(api debug)"
has_chains() { profile "{service=\"$1\"}" -d format=folded | grep -q 'work;by_the_right;choose;alpha_sixty;burn '; }
for name in $inlining; do
  until_true 10 has_chains $name || fail "$name in the collector: $(profile "{service=\"$name\"}" -d format=folded | head -n 3); $(api debug)"
done
id=$(translator_id script)
is_scripted() { profile '{service="script"}' | json "sum(f['self'] for f in d['functions'] if f['name'] == '$id') / d['total'] > .5" | grep -q yes; }
until_true 10 is_scripted || fail "a user's script: $(profile '{service="script"}'); $(api debug)"
profile '{service="script"}' | json "[f['file'] for f in d['functions'] if f['name'] == '$id']" | grep -q script.c || fail "a translator's function is of no file: $(profile '{service="script"}')"
api function -d function="$id" -d match='{service="script"}' | json "[r for r in d['by_line'] if r['file'].endswith('script.c') and r['line'] == 7] != []" | grep -q yes \
  || fail "a translator's lines: $(api function -d function="$id")"
metric() { curl -fs "http://127.0.0.1:$H/metrics" | sed -n "s/^fleetprof_translator_$1 //p"; }
[ "$(metric 'starts_total')" -ge 5 ] && [ "$(metric 'named_total')" -ge 10 ] || fail "the metrics: $(curl -fs "http://127.0.0.1:$H/metrics" | grep translator)"
[ $(($(metric 'failures_total{reason="exit"}') + $(metric 'failures_total{reason="line_count"}'))) -ge 2 ] || fail "failures: $(curl -fs "http://127.0.0.1:$H/metrics" | grep translator)"
run --service exporting --hz 499 -- "$W/exporting" >/dev/null || fail "exporting ended with $?"
is_refused() {
  [ "$(metric refused_total)" -gt 0 ] && profile '{service="exporting"}' | json "sum(f['self'] for f in d['functions'] if f['name'] == '$behind') / d['total'] > .8" | grep -q yes
}
profile '{service="exporting"}' >/dev/null
until_true 20 is_refused || fail "a wrong name is believed: $(profile '{service="exporting"}'); $(api debug)"
[[ "$(translator exporting failure)" = *"not believed"* ]] || fail "nobody says that names are not believed: $(api debug)"
run --service two --hz 499 -- "$W/two" >/dev/null || fail "two ended with $?"
is_chosen() { profile '{service="two"}' | json "[f['name'] for f in d['functions'] if f['name'] in ('chosen', '_another')] == ['chosen']" | grep -q yes; }
until_true 20 is_chosen || fail "a function by its other name: $(profile '{service="two"}'); $(api debug)"
[ "$(translator two command)" = "fleetprof translate $W/two.nm" ] || fail "nobody was asked for two: $(api debug)"
say "in the collector: at once, and late; $inlining, a script"
stop_collector
