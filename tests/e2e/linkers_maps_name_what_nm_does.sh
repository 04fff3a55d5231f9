#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# For a stripped program, its linker's map gives the names that nm gives for the program itself:
# every global function at its first and last byte, in `fleetprof translate` and, uploaded, in the
# collector; by GNU ld and by LLD.
. "$(dirname "$0")/lib.sh"
cat >"$W/app.c" <<'C'
#include <stdlib.h>
#include <string.h>
static __attribute__((noinline)) unsigned hidden(unsigned x) {
  for (unsigned i = 0; i < 1000; i++) x = x * 1664525u + 1013904223u + (x >> 7);
  return x;
}
__attribute__((noinline)) unsigned shown(unsigned x) {
  for (unsigned i = 0; i < 500; i++) x = x * 22695477u + 1u + (x >> 9);
  return x;
}
__attribute__((weak, noinline)) unsigned weak(unsigned x) { return x + (unsigned)strlen(getenv("PATH")); }
int main(int argc, char **argv) {
  unsigned x = (unsigned)argc;
  for (long i = atol(argv[1]); i > 0; i--) x = hidden(x) + shown(x);
  return weak(x) == 7;
}
C
build() { # NAME OPTION...: a program with its map, and without its symbols
  cc -O2 -ffunction-sections -Wl,--build-id=sha1 -Wl,-Map="$W/$1.map" "${@:2}" -o "$W/$1.whole" "$W/app.c" || return 1
  strip -o "$W/$1" "$W/$1.whole"
}
agree() { # NAME TYPES: translate answers each symbol's two ends with one of nm's names for its place
  nm -S --defined-only "$W/$1.whole" >"$W/$1.nm"
  /usr/bin/python3 - "$W/$1.nm" "$W/$1.map" "$2" <<'PY' || fail "$1: its map and nm"
import subprocess, sys
rows = [(int(row[0], 16), int(row[1], 16), row[2], row[3]) for row in map(str.split, open(sys.argv[1])) if len(row) == 4]
places = {}
for start, size, kind, name in rows:
    places.setdefault(start, set()).add(name)
asked = [(start, at) for start, size in {row[:2] for row in rows if row[2] in sys.argv[3]} for at in {0, max(size, 1) - 1}]
lines = subprocess.run(["fleetprof", "translate", sys.argv[2]], input="".join("%x\n" % (a + o) for a, o in asked),
                       capture_output=True, text=True, check=True).stdout.splitlines()
wrong = [(hex(a), o, line) for (a, o), line in zip(asked, lines) if line not in {"%s+0x%x" % (n, o) for n in places[a]}]
print("  %s: %d of %d ends" % (sys.argv[2].split("/")[-1], len(asked) - len(wrong), len(asked)))
for row in wrong[:3]: print("  wrong:", *row)
sys.exit(len(lines) != len(asked) or len(asked) < 6 or bool(wrong))
PY
}
build app || fail "the compiler"
agree app TWi
build static -static || fail "the compiler"
agree static Ti
linkers=app
if command -v ld.lld >/dev/null; then
  build app_lld -fuse-ld=lld || fail "the compiler with LLD"
  agree app_lld TWti
  linkers="$linkers app_lld"
else
  without "LLD's map" "ld.lld is not installed"
fi

fleetprof translate -f "$W/app.map" <<<"$(awk '$4 == "shown" { print $1 }' "$W/app.nm")" >"$W/answer"
[ "$(head -n 1 "$W/answer")" = shown ] && grep -q '\.o:0$' "$W/answer" || fail "the object file: $(cat "$W/answer")"
fleetprof translate "$W/app.map" --make-index "$W/app.index" || fail "an index of a map"
[ "$(fleetprof translate "$W/app.map" --index "$W/app.index" </dev/null; echo $?)" = 0 ] || fail "a map with its index"

start_collector
enroll board1
fleetprof-collector token --data "$W/data" --role symbols >"$W/token"
named() { profile "{service=\"$1\"}" | json "sum(f['self'] for f in d['functions'] if f['name'] in ('hidden', 'shown')) / d['total']"; }
is_named() { /usr/bin/python3 -c "import sys; sys.exit($(named "$1") < .9)"; }
for name in $linkers; do
  run --service $name --hz 499 -- "$W/$name" 200000 >/dev/null || fail "$name ended with $?"
  is_named $name && fail "$name has names before its map came"
  fleetprof upload --http "http://127.0.0.1:$H" --token-file "$W/token" --build-id "$(readelf -n "$W/$name" | sed -n 's/.*Build ID: //p')" \
    "$W/$name.map" >"$W/upload" 2>&1 || fail "the upload: $(cat "$W/upload")"
  until_true 10 is_named $name || fail "$name: $(named $name); $(profile "{service=\"$name\"}"); $(api debug)"
done
[ "$(api debug | json "[m['quality'] for m in d['modules'] if m['path'].endswith('/app')][0]")" = map ] || fail "the quality: $(api debug)"
say "uploaded: $linkers"
stop_collector
