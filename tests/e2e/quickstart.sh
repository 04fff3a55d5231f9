# SPDX-License-Identifier: Apache-2.0
# Sourced after lib.sh by the tests of deploy/quickstart.sh: `root` is a copy of the sources below
# the tests' build folder. The tests share it, one at a time, so all is built once. No developer's
# build/ is changed, and a killed test leaves nothing damaged for the next.
root=${FLEETPROF_TARGETS:?the tests\' programs: the copy is made beside them}/../quickstart
mkdir -p "$root" && root=$(cd "$root" && pwd) || fail "$root: no folder for a copy of the sources"
exec {turn}>"$root.lock" && flock "$turn" || fail "$root.lock: cannot be locked" # until the last of our processes has ended
find "$root" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
tar -C "$(dirname "${BASH_SOURCE[0]}")/../.." -c --exclude='./build*' --exclude=./.git --exclude-tag-all=CMakeCache.txt . |
  tar -x -C "$root" || fail "$root: the sources cannot be copied"
! grep -qs '^WITH_WEB:BOOL=OFF' "$root/build/CMakeCache.txt" || rm "$root/build/CMakeCache.txt"

is_up() { grep -qs '^Ctrl-C ends it' "$W/up" || is_gone $up; }
# quickstart_up WORDS...: starts it and waits until all is up; its output is in "$W/up", and `up` is
# its process.
quickstart_up() {
  "$root/deploy/quickstart.sh" "$@" >"$W/up" 2>&1 &
  up=$!
  started+=($up)
  until_true 900 is_up && ! is_gone $up || fail "it is not up: $(tail -n 5 "$W/up")" # from nothing it is minutes
}
