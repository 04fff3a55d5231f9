#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program whose functions, source files, file name, threads, service and labels look like markup,
# scripts or text of another direction, one function with a name of 100 KB, and a board with labels
# of that kind. It is run, named and stored, and every view shows each name as text and keeps its
# layout; pictures and /metrics stay valid. A program's name cannot hold a NUL, so a board with
# fabricated batches sends those.
. "$(dirname "$0")/lib.sh"
export FLEETPROF_WEB=${FLEETPROF_WEB:-${FLEETPROF_TARGETS%/tests/targets}/web}
door=$(dirname "$0")/door
if ! command -v chromium >/dev/null || [ ! -d "$FLEETPROF_WEB/node_modules/playwright-core" ]; then
  not_run "no chromium, or a build without tests of the page"
fi
command -v cc >/dev/null && command -v objcopy >/dev/null || not_run "no compiler, or no objcopy"
image='<img src=x onerror=alert(1)>' script='</script><script>alert(2)</script>'
turned=$'a\u202Etxt.exe' broken=$'br\xffoken\xfe' template='{{constructor}}&lt;b&gt;"'"'"
long=_Z100000$(printf 'x%.0s' {1..100000})v
cat >"$W/names.c" <<'C'
#include <sys/prctl.h>
#include <time.h>
static volatile unsigned long sink;
#define PART(name) __attribute__((noipa)) void name(void) { for (int i = 0; i < 20000; i++) sink += i; }
#line 7 "<img src=y onerror=alert(7)>.c"
PART(part_image)
#line 8 "</script><script>alert(8)</script>.c"
PART(part_script)
PART(part_turned) PART(part_broken) PART(part_template) PART(part_long)
int main(void) {
  prctl(PR_SET_NAME, "<i>th</i>");
  while (clock() < CLOCKS_PER_SEC) {
    part_image(); part_script(); part_turned(); part_broken(); part_template(); part_long();
  }
  return 0;
}
C
program="$W/<svg onload=alert(3)>$turned$broken"
for id in 0x2601 0x2602; do # two builds: renamed, and with its debug information
  cc -g -O1 -fno-omit-frame-pointer "-Wl,--build-id=$id$(printf '00%.0s' {1..18})" -o "$W/$id" "$W/names.c" || fail "the compiler"
done
objcopy --redefine-sym "part_image=$image" --redefine-sym "part_script=$script" --redefine-sym "part_turned=$turned" \
  --redefine-sym "part_broken=$broken" --redefine-sym "part_template=$template" --redefine-sym "part_long=$long" \
  --strip-debug "$W/0x2601" "$program" || fail "objcopy"
start_collector --watch "$image" --watch "$script" --watch "$turned" --watch-by note
fleetprof-collector token --data "$W/data" --board "$image" >"$W/refused" 2>&1 && fail "a board is called $image"
enroll board
fleetprofd --state "$B" --collector "127.0.0.1:$A" --label "site=$script" --label "firmware=$image" --label "turned=$turned" || fail "no daemon"
service='<svg onload=alert(5)>' note='</script><script>alert(6)</script>'
run --service "$service" --label "note=$note" --label "turned=$turned" --label "broken=$broken" --hz 499 -- "$program" ||
  fail "the program ended with $?"
run --service files --hz 499 -- "$W/0x2602" || fail "the same with its debug information ended with $?"
run --service other --hz 99 -- "$targets/truth" 0.5 >/dev/null || fail "truth"
enroll liar
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$door/strangers_names.py" "$B" "127.0.0.1:$A" >"$W/liar" 2>&1 || fail "the board that makes names up: $(tail -n 1 "$W/liar")"
say "$(cat "$W/liar")"
is_named() {
  profile '{}' -d limit=1000 >"$W/table" && grep -qF 'onerror=alert(1)' "$W/table" && grep -qF 'xxxxxxxxxxxxxxxxx' "$W/table" && grep -q '"dwarf"' "$W/table"
}
until_true 30 is_named && until_true 20 names_are_settled || fail "not named: $(head -c 2000 "$W/table")"

curl -fs "http://127.0.0.1:$H/metrics" >"$W/metrics" || fail "no metrics"
/usr/bin/python3 - "$W/metrics" "$image" "$script" "$turned" "$note" <<'PY' >"$W/parsed" 2>&1 || fail "metrics: $(tail -n 1 "$W/parsed")"
import sys
from prometheus_client.parser import text_string_to_metric_families as families
told = [s.labels for f in families(open(sys.argv[1], encoding="utf-8").read()) for s in f.samples if s.name == "fleetprof_function_cpu_ratio"]
image, script, turned, note = sys.argv[2:]
assert {row["function"] for row in told} == {image, script, turned}, told
assert note in {row["release"] for row in told}, told
PY
HOME=$W timeout 240 node "$door/strangers_names.mjs" "http://127.0.0.1:$H" "$W/pictures" "$service" "$note" "$image" "$script" "$turned" \
  "$(pick 'light phone' 'light dark phone')" >"$W/page.log" 2>&1 || fail "$(cat "$W/page.log")"
/usr/bin/python3 - "$W/pictures"/*.svg <<'PY' >"$W/parsed" 2>&1 || fail "a picture: $(tail -n 1 "$W/parsed")"
import sys, xml.etree.ElementTree as tree
assert len(sys.argv) == 3, sys.argv
for file in sys.argv[1:]:
    root = tree.parse(file).getroot()
    tags = {element.tag.split("}")[1] for element in root.iter()}
    assert tags <= {"svg", "g", "rect", "text", "title"}, tags
    titles = [element.text for element in root.iter("{http://www.w3.org/2000/svg}title")]
    assert any(text.startswith("<img src=x onerror=alert(1)>") for text in titles), titles[:9]
    assert not any("\u202e" in text for text in titles)
PY
say "$(ls "$W/pictures"/*.png | wc -l) views, $(ls "$W/pictures"/*.svg | wc -l) pictures as SVG"
kill -0 "$COLLECTOR" || fail "the collector has ended"
