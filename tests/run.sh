#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the packages of the tests, builds, runs the whole suite. Ends with the parts that could
# not run here and CTest's closing lines; non-zero on any failure.
#
#   ./tests/run.sh           everything but the long forms and halves of tests/torture.sh; what holds for every user alike, as one of them
#   ./tests/run.sh --fast    without what takes more than about a minute in all
#   FLEETPROF_BOARDS=DIR ./tests/run.sh    a whole board in an emulator, too: 700 MB of packages, kept in DIR as far as it can be
set -euo pipefail
cd "$(dirname "$0")/.."
fast=
for word; do
  [ "$word" = --fast ] || { echo "tests/run.sh: $word: unknown argument; there is --fast alone" >&2; exit 2; }
  fast=ON
done
# A large part also runs as an ordinary user, and root's home is usually closed to others.
reads_suite() { setpriv --reuid=65534 --regid=65534 --clear-groups test -r "$PWD/tests/run.sh" 2>/dev/null; }
if [ "$(id -u)" = 0 ] && ! reads_suite; then
  copy=$(mktemp -d /tmp/fleetprof-suite.XXXXXX)
  trap 'rm -rf "$copy"' EXIT
  echo "other users may not read $PWD: the suite runs in a copy, $copy"
  tar -c --exclude='./build*' . | tar -x -C "$copy"
  chmod -R go+rX "$copy"
  "$copy/tests/run.sh" "$@"
  exit
fi
. deploy/packages/install.sh
install_packages build test ${FLEETPROF_BOARDS:+cross boards}
echo "building the suite; this takes some minutes without a word"
# The suite's own build tree, so that a developer's build stays unchanged.
build=${FLEETPROF_TEST_BUILD:-build-test}
jobs=$(nproc)
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DFLEETPROF_DEV=ON -DWITH_TESTS=ON \
      -DWITH_SANITIZED="${fast:-OFF}" >"$build.configure.log" 2>&1 \
  || { cat "$build.configure.log"; exit 1; }
rm -f "$build.configure.log"
cmake --build "$build" -j "$jobs" -- --no-print-directory | grep -vE '^\[ *[0-9]+%\] (Building|Built|Linking|Generating)' || [ "${PIPESTATUS[0]}" = 0 ]
# Lists parts that tests could not run: they are in the tests' output, which CTest hides if they
# pass. The halves of a scenario report the same, once.
without() {
  awk '/^[0-9]+\/[0-9]+ Test: / { sub(/^[^:]*: /, ""); sub(/\/(user|refused|user-refused)$/, ""); test = $0 }
       /^(without|not run:?) / && !told[test $0]++ { if (!count++) print "\nnot run here:"; print "  " test ": " $0 }' "$@"
}
# Why each failed test of a log failed.
fell() {
  awk '/^[0-9]+\/[0-9]+ Test: / { sub(/^[^:]*: /, ""); test = $0; why = "" }
       /^FAILED: / && why == "" { why = substr($0, 9) }
       /^(Test Failed|Test timed out|Test .*Exception)/ { print "  " test ": " why }' "$1"
}
log_of() { echo "$1/Testing/Temporary/LastTest.log"; }
# CTest's closing lines come last, after the list of parts not run.
suite() { # DIR, further arguments of ctest
  ctest --test-dir "$1" --output-on-failure "${@:2}" | {
    while IFS= read -r line && ! [[ $line =~ ^[0-9]+%\ tests\ passed ]]; do printf '%s\n' "$line"; done
    closing=$(printf '%s\n' "$line" && cat) # ends with CTest, whose log is then complete
    without "$(log_of "$1")"
    printf '\n%s\n' "$closing"
  }
}
# Shares, waits and deadlines are checked on a shared machine, and one of hundreds may fail by
# chance or by other load. So failed tests are repeated alone, at most twice, and reported. A test
# that fails then has failed.
again() { # DIR
  printf '\ntried again, alone:\n'
  fell "$(log_of "$1")"
  suite "$1" --rerun-failed --repeat until-pass:2
}
if [ -z "$fast" ]; then
  sanitized=build-test-asan
  cmake -S . -B "$sanitized" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DFLEETPROF_DEV=ON -DWITH_TESTS=ON \
        -DFLEETPROF_SANITIZE=address -DWITH_WEB=OFF >/dev/null
  cmake --build "$sanitized" -j "$jobs" >/dev/null
  echo "unit tests, fuzz corpora and hostile programs under AddressSanitizer and UndefinedBehaviorSanitizer"
  suite "$sanitized" -j $((3 * jobs)) -L sanitized || {
    ! grep -E 'ERROR: [A-Za-z]*Sanitizer|: runtime error: ' "$(log_of "$sanitized")" || exit 1 # sanitizer reports are never chance
    again "$sanitized"
  }
fi
# Most scripts wait as long as they compute, so three run for every two CPUs: each counts as two
# PROCESSORS, and scripts that hardly compute as one.
suite "$build" -j $((3 * jobs)) -LE "elsewhere${fast:+|slow}" || again "$build"
