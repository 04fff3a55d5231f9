#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A board's profile gets names at a desk from the debug files that the build left in a folder: in a
# tree by build-ids, or anywhere below it. Files match by build-id only, those with debug
# information first. `name` writes these names into the file.
. "$(dirname "$0")/lib.sh"
export FLEETPROF_CONFIG=
cat >"$W/app.c" <<'C'
__attribute__((noinline)) static long NAME(volatile long n) { while (n > 0) n--; return n; }
int main(void) { return (int)NAME(400000000); }
C
build() { # FOLDER FUNCTION: a stripped program, and its debug file
  mkdir -p "$W/$1"
  cc -g -O1 -DNAME="$2" -Wl,--build-id=sha1 -o "$W/$1/whole" "$W/app.c" &&
    objcopy --only-keep-debug "$W/$1/whole" "$W/$1/debug" && objcopy --strip-all "$W/$1/whole" "$W/$1/app" || fail "cc of $1"
}
build board burn_here
build other burn_elsewhere
fleetprof run --output "$W/app.fp" --hz 499 -- "$W/board/app" || fail "app ended with $?"
report() { fleetprof report "$W/app.fp" "$@" 2>"$W/err"; }
rm "$W/board/app" # as at a desk
report | grep -q burn_here && fail "a stripped program has names"
grep -q 'tell its folder by --debug DIR' "$W/err" || fail "what helps is not told: $(cat "$W/err")"

# named DIR...: by these folders the function has its name, and its line.
named() {
  local folders=("${@/#/--debug=}")
  report "${folders[@]}" | grep -q ' burn_here  (app' || fail "not named by $*: $(report "${folders[@]}") $(cat "$W/err")"
  ! report "${folders[@]}" 2>&1 | grep -q burn_elsewhere || fail "another build's names are taken"
  report "${folders[@]}" -f json | json "[f['file'] for f in d['functions'] if f['name'] == 'burn_here']" | grep -q app.c || fail "no line by $*"
}
id=$(readelf -n "$W/board/debug" | sed -n 's/.*Build ID: //p')
mkdir -p "$W/tree/.build-id/${id:0:2}" "$W/system/usr/lib/debug/.build-id/${id:0:2}" "$W/any/opt/shop/.debug" "$W/both/a" "$W/both/b" "$W/none"
cp "$W/board/debug" "$W/tree/.build-id/${id:0:2}/${id:2}.debug"
cp "$W/board/debug" "$W/system/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
cp "$W/board/debug" "$W/any/opt/shop/.debug/app"
cp "$W/other/debug" "$W/any/app.debug"
mkfifo "$W/any/fifo"
ln -s / "$W/any/loop"
printf '\177ELFnonsense' >"$W/any/broken"
objcopy --strip-debug "$W/board/whole" "$W/both/a/first" # functions alone, and found first
cp "$W/board/debug" "$W/both/b/last"
for folder in tree system any both; do named "$W/$folder"; done
named "$W/none" "$W/any/"
mkdir -p "$W/wrong/.build-id/${id:0:2}"
cp "$W/other/debug" "$W/wrong/.build-id/${id:0:2}/${id:2}.debug"
report --debug "$W/wrong" | grep -q 'burn' && fail "a file is believed by its name"
report --debug "$W/other" | grep -q 'burn' && fail "names of another build"

# It is looked up again, once for all.
fleetprof report "$W/app.fp" --diff "$W/app.fp" --debug "$W/any" | grep -q burn_here || fail "a difference is not named"
fleetprof name "$W/app.fp" --debug "$W/any" || fail "name ends with $?"
report | grep -q ' burn_here  (app' || fail "the names are not in the file: $(report)"

# A variable with another meaning is reported, and a folder of that name is not used.
mkdir "$W/1" && cp "$W/other/debug" "$W/1/"
cd "$W" || fail "no folder"
for value in 1 yes "1;$W/any"; do
  FLEETPROF_DEBUG=$value report >"$W/out" && grep -q ' burn_here  (app' "$W/out" || fail "FLEETPROF_DEBUG=$value ends the report: $(cat "$W/err")"
  grep -q "^fleetprof: report: FLEETPROF_DEBUG .* is '${value%%;*}', which is no path from / .*: passed over$" "$W/err" || fail "FLEETPROF_DEBUG=$value is not told: $(cat "$W/err")"
done
FLEETPROF_DEBUG=$W/any report >"$W/out" && [ ! -s "$W/err" ] || fail "a folder in the environment: $(cat "$W/err")"
FLEETPROF_DEBUG=1 fleetprof name "$W/app.fp" 2>"$W/err" && grep -q "name: FLEETPROF_DEBUG .* passed over" "$W/err" || fail "name with FLEETPROF_DEBUG=1: $(cat "$W/err")"
report --debug 1 >"$W/out" && [ ! -s "$W/err" ] || fail "a folder on the command line: $(cat "$W/err")"

# A path that is no folder is reported before any output.
for bad in "$W/nowhere" "$W/app.c"; do
  report --debug "$W/any" --debug "$bad" >"$W/out" && fail "$bad is taken for a folder"
  grep -q "^fleetprof: report: --debug: $bad: No\(t a\| such\)" "$W/err" && [ ! -s "$W/out" ] || fail "$bad: $(cat "$W/err")"
done
exit 0
