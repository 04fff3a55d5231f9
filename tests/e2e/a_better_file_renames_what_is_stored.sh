#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Samples are stored as addresses: those of a stripped program get the names of its debug file,
# inlined functions included, whether it arrives before or after them. Files that arrive twice, or
# have the same build-id with other bytes, change nothing; with other names they are rejected and
# audited. `fleetprof report` agrees.
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
cat >"$W/app.c" <<'C'
#include <stdlib.h>
static inline __attribute__((always_inline)) unsigned inner_work(unsigned x) {
  for (unsigned i = 0; i < 1000; i++) x = x * 1664525u + 1013904223u + (x >> 7);
  return x;
}
__attribute__((noinline)) unsigned outer_work(unsigned x) { return inner_work(x ^ BUILD) + 1; }
int main(int argc, char **argv) {
  unsigned x = (unsigned)argc;
  for (long i = atol(argv[1]); i > 0; i--) x = outer_work(x);
  return x == 7;
}
C
for build in 1 2; do
  (cd "$W" && cc -O2 -g -DBUILD=$build -Wl,--build-id=sha1 -o app$build app.c && objcopy --only-keep-debug app$build app$build.debug \
    && strip -o stripped$build app$build) || fail "the compiler"
done
token=$(fleetprof-collector token --data "$W/data" --role symbols)
id_of() { readelf -n "$W/$1" | sed -n 's/.*Build ID: //p'; }
put() { curl -sS -o "$W/put" -w '%{http_code}' -X PUT -H "Authorization: Bearer $token" --data-binary @"$W/$1" "http://127.0.0.1:$H/api/v1/debug/$(id_of app$2)"; }
# The function with the largest self time, its declaration, and the quality of its name.
heaviest() { profile "{service=\"$1\"}" | json "' '.join(str(d['functions'][0][k]) for k in ('name', 'file'))"; }
is_named() { case $(heaviest "$1") in "inner_work $W/app.c") true ;; *) false ;; esac; }
sample() { run --service "$1" --hz 499 --sampler perf -- "$W/$2" 500000 >/dev/null || fail "$2 ended with $?"; }

sample after stripped1
case $(heaviest after) in stripped1+0x*) ;; *) fail "a stripped program: $(heaviest after)" ;; esac
[ "$(put app1.debug 1)" = 201 ] || fail "upload: $(cat "$W/put")"
until_true 10 is_named after || fail "after its debug file: $(heaviest after); $(api debug)"
profile '{service="after"}' -d format=tree | json "sorted({n['name'] for n in d['nodes'] if n.get('inlined')})" | grep -q inner_work \
  || fail "inner_work is not told as inlined"
[ "$(put app1.debug 1)" = 201 ] || fail "the same file again: $(cat "$W/put")"
printf 'more' >"$W/more"
objcopy --add-section .more="$W/more" "$W/app1.debug" "$W/other.debug"
[ "$(put other.debug 1)" = 201 ] || fail "the same with another section: $(cat "$W/put")"
is_named after || fail "after the same with another section: $(heaviest after)"
# A larger file with the same build-id and other names.
(cd "$W" && sed 's/_work/_lie/g' app.c >lie.c && cc -O2 -g3 -DBUILD=1 -Wl,--build-id=sha1 -o lie lie.c \
  && objcopy --dump-section .note.gnu.build-id=note app1 && objcopy --update-section .note.gnu.build-id=note lie) || fail "no liar"
for try in "" again; do
  case $(put lie 1) in 409) ;; *) fail "a file that contradicts what is here, $try: $(cat "$W/put")" ;; esac
done
until_true 5 grep -q "denied 409 PUT .*$(id_of app1)" "$W/data/denials.log" || fail "no line in denials.log: $(cat "$W/data/denials.log")"
is_named after || fail "after a file with other names: $(heaviest after)"

[ "$(put app2.debug 2)" = 201 ] || fail "upload: $(cat "$W/put")"
sample before stripped2
until_true 10 is_named before || fail "a debug file that came first: $(heaviest before)"

"$FLEETPROF_PREFIX/bin/fleetprof" run --output "$W/app.profile" --hz 499 -- "$W/app1" 500000 || fail "run --output ended with $?"
fleetprof report --format folded "$W/app.profile" | grep -q ';main;outer_work;inner_work ' || fail "report: $(fleetprof report "$W/app.profile")"
say "inner_work is named after and before its file came, and in a report"
