#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sources uploaded with a program are shown beside its lines, in gdb and in debuginfod's own client;
# files that its debug information names but no user gave are not sent.
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
fleetprof-collector token --data "$W/data" --role symbols >"$W/token"
up() { fleetprof upload "$@" --http "http://127.0.0.1:$H" --token-file "$W/token" >"$W/out" 2>"$W/err"; }
expect() { # STATUS WHAT ARGUMENT...
  local want=$1 what=$2 got=0
  shift 2
  up "$@" || got=$?
  [ $got = "$want" ] || fail "$what: exit $got: $(cat "$W/out" "$W/err")"
}
told() { grep -q "$1" "$W/out" "$W/err" || fail "not told: $1: $(cat "$W/out" "$W/err")"; }
id_of() { readelf -n "$1" 2>/dev/null | awk '/Build ID/ { print $3 }'; }
source_of() { curl -s -o "$W/served" -w '%{http_code}' "http://127.0.0.1:$H/buildid/$1/source$2"; }

# Two sources in a project, a hidden file in it, and a file outside of it that the debug information
# names.
mkdir -p "$W/project/src" "$W/project/.hidden" "$W/private"
cat >"$W/project/src/work.c" <<'END'
#include "twice.h"
#include "../.hidden/token.h"
#include "key.h"
#include "secret.key"
__attribute__((noinline)) int work_of_source(volatile int *n) {
  for (int i = 0; i < 200000000; i++)
    *n += twice(i); /* the line that is hot */
  return *n + token(*n) + key(*n) + secret(*n);
}
int main(void) {
  volatile int n = 0;
  return work_of_source(&n) == 1;
}
END
echo 'static inline int twice(int i) { return 2 * i; }' >"$W/project/src/twice.h"
echo 'static inline int token(int i) { return i % 5; }' >"$W/project/.hidden/token.h"
echo 'static inline int key(int i) { return i % 7; }' >"$W/private/key.h"
echo 'static inline int secret(int i) { return i % 3; }' >"$W/project/src/secret.key"
gcc -g -O1 -Wl,--build-id -I"$W/private" -o "$W/whole" "$W/project/src/work.c" || fail "gcc"
objcopy --strip-all "$W/whole" "$W/stripped"
id=$(id_of "$W/whole")

run --service sources -- "$W/stripped" >/dev/null || fail "the program ended with $?"
expect 2 "a folder that is none" --sources "$W/nowhere" "$W/whole"
told "$W/nowhere: No such file"
expect 0 "sources" --sources "$W/project" "$W/whole"
told 'programs sent 1, there already 0, none found 0; files there 2, not found 1, not taken 2 '
for name in work.c twice.h; do
  [ "$(source_of "$id" "$W/project/src/$name")" = 200 ] && cmp "$W/served" "$W/project/src/$name" || fail "$name differs"
done
[ "$(source_of "$id" "$W/project/src/../src/./work.c")" = 200 ] || fail "a path with .. is another file"
for name in "$W/private/key.h" "$W/project/.hidden/token.h" "$W/project/src/secret.key" /etc/passwd ""; do
  [ "$(source_of "$id" "$name")" = 404 ] || fail "$name is served"
done
expect 0 "the same again" --sources "$W/project" "$W/whole"
told 'there already 1'

# The page's question: the hot line has its text.
detail() { curl -fsG "http://127.0.0.1:$H/api/v1/function" --data-urlencode 'match={service="sources"}' --data-urlencode function=work_of_source "$@"; }
has_text() { detail | json "any('the line that is hot' in r.get('text', '') and r['self'] > 0 for r in d['by_line']) and any('work_of_source(volatile' in t for t in d['source']['lines'])" | grep -q yes; }
until_true 15 has_text || fail "no text beside the lines: $(detail)"

# So has it in a shell, beside its share.
fleetprof query sources --http "http://127.0.0.1:$H" --function work_of_source >"$W/out" 2>"$W/err" || fail "query: $(cat "$W/err")"
grep -q '^ *[0-9.]* %  *[0-9.]* %  .*src/work.c:7  .*the line that is hot' "$W/out" || fail "no text beside the line: $(cat "$W/out")"

# Real clients, with only the stripped program, after the sources were deleted.
mv "$W/project" "$W/elsewhere"
export DEBUGINFOD_URLS=http://127.0.0.1:$H DEBUGINFOD_CACHE_PATH=$W/cache HOME=$W
if command -v debuginfod-find >/dev/null; then
  cmp "$(debuginfod-find source "$id" "$W/project/src/twice.h")" "$W/elsewhere/src/twice.h" || fail "debuginfod-find got another source"
else
  without debuginfod-find "package debuginfod"
fi
if command -v gdb >/dev/null; then
  gdb -nx -batch -ex 'set debuginfod enabled on' -ex "file $W/stripped" -ex 'list work_of_source' >"$W/listed" 2>&1
  grep -q 'the line that is hot' "$W/listed" || fail "gdb lists nothing: $(cat "$W/listed")"
else
  without gdb "package gdb"
fi

# A build that hides its build folder, and one built in another folder.
mkdir "$W/tree"
tar c -C "$W/elsewhere/src" . | tar x -C "$W/tree"
sed -i '/hidden\|key/d; s/ + token.*;/;/; s/work_of_source/moved/' "$W/tree/work.c"
(cd "$W/tree" && gcc -g -O1 -Wl,--build-id -ffile-prefix-map="$W/tree"=. -o "$W/relative" work.c &&
  gcc -g -O1 -Wl,--build-id -ffile-prefix-map="$W/tree"=/usr/src/app -o "$W/mapped" "$W/tree/work.c") || fail "gcc"
tar cf "$W/image.tar" -C "$W" relative mapped
expect 0 "sources of an archive" "$W/image.tar" --source-map .="$W/tree" --source-map /usr/src/app="$W/tree"
told 'programs sent 2, .* files there 4, not found 0$\|programs sent 2, .* files there 4, not found 0\.'
[ "$(source_of "$(id_of "$W/mapped")" /usr/src/app/twice.h)" = 200 ] || fail "a mapped source is not there"
[ "$(source_of "$(id_of "$W/relative")" /work.c)" = 200 ] && cmp "$W/served" "$W/tree/work.c" || fail "a relative source is not there"
