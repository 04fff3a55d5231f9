#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs' own test suites have the same results with the agent as without: zlib, sqlite, redis and
# xz, built here from Debian's sources, and the `test` package of Debian's python3, at the highest
# rate, by perf and by timer.
#
#   tests/torture/own_suites_pass.sh [SUITE]...     (default: all)
#
# OWN_SUITES_DIR keeps the built sources for the next time. Needs Debian's source packages (over a
# separate list; the system's are unchanged) and the packages of deploy/packages/torture.txt.
. "$(dirname "$0")/lib.sh"
src=${OWN_SUITES_DIR:-$W/sources}
suites=${*:-zlib xz sqlite redis python}
HZ=10000

fetch_sources() {
  mkdir -p "$src/lists/partial"
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main" \
    >"$src/sources.list"
  local options=(-o "Dir::Etc::sourcelist=$src/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$src/lists")
  apt-get "${options[@]}" update >"$W/apt.log" 2>&1 || return 1
  (cd "$src" && apt-get "${options[@]}" source zlib sqlite3 redis xz-utils >>"$W/apt.log" 2>&1)
}

build() {
  case $1 in
  zlib) ./configure && make ;;
  xz) ./configure --disable-nls && make && make -C tests check TESTS= ;;
  sqlite) ./configure --disable-amalgamation && make testfixture ;;
  redis) make MALLOC=libc BUILD_TLS=no ;;
  esac
}

folder_of() {
  case $1 in
  sqlite) echo "$src"/sqlite3-*/ ;;
  python) echo "$src" ;;
  *) echo "$src/$1"-*/ ;;
  esac
}

prepare() {
  [ "$1" = python ] || [ -e "$(folder_of "$1")/.fleetprof-built" ] && return
  (cd $(folder_of "$1") && build "$1" && touch .fleetprof-built) >"$W/$1.build" 2>&1
}

# The suite as a command line, run in its folder. Python's suite needs the signals that a shell
# ignores for background commands.
command_of() {
  case $1 in
  zlib) echo "make test" ;;
  xz) echo "make -C tests check" ;;
  sqlite) echo "./testfixture $W/sqlite.tcl" ;;
  redis) echo "./runtest --single unit/type/list-2 --single unit/expire --single unit/multi --single unit/introspection --clients 1" ;;
  python) echo "env --default-signal /usr/bin/python3 -m test test_signal test_threading test_subprocess test_select test_poll test_epoll test_time test_fork1 test_ctypes test_thread" ;;
  esac
}

# The suite's own results, without times and places.
verdict_of() {
  case $1 in
  zlib) grep -c 'test OK' "$2" ;;
  xz) grep -E '^# (TOTAL|PASS|SKIP|FAIL|ERROR)' "$2" ;;
  sqlite) grep -E 'errors out of' "$2" | sed 's/ on .*//' ;;
  redis) sed 's/\x1b\[[0-9;]*m//g' "$2" | grep -c '^\[ok\]'; grep -o 'All tests passed without errors' "$2" ;;
  python) grep -E '^(Tests result|All [0-9]+ tests OK|[0-9]+ tests? failed)' "$2" | sort -u ;;
  esac
}

run_suite() {
  local suite=$1 sampler=$2 log="$W/$1.$2" status
  if [ "$sampler" = plain ]; then
    (cd $(folder_of "$suite") && $(command_of "$suite")) >"$log" 2>&1 </dev/null
  else
    (cd $(folder_of "$suite") \
      && run --service "suite-$suite-$sampler" --sampler "$sampler" --hz $HZ -- $(command_of "$suite")) >"$log" 2>&1 </dev/null
  fi
  status=$?
  [ $status = 0 ] || { tail -20 "$log"; fail "$suite, $sampler: ended with $status"; }
  verdict_of "$suite" "$log" >"$log.verdict"
  [ -s "$log.verdict" ] || fail "$suite, $sampler: no verdict in its output"
}

cat >"$W/sqlite.tcl" <<'T'
set argv0 test/some.test
set testdir [file join [pwd] test]
source $testdir/permutations.test
run_tests some -description some -files {select1.test insert.test trigger1.test vacuum.test wal.test thread001.test
  thread002.test malloc5.test shared2.test}
finish_test
T
[ -e "$src/zlib-1.2.13.dfsg" ] || fetch_sources || { tail -3 "$W/apt.log"; echo "not run: Debian's source packages cannot be fetched"; exit 77; }
start_collector
enroll suites
for suite in $suites; do
  prepare "$suite" || { tail -5 "$W/$suite.build"; fail "$suite does not build"; }
  run_suite "$suite" plain
  for sampler in "${samplers[@]}"; do
    run_suite "$suite" $sampler
    diff "$W/$suite.plain.verdict" "$W/$suite.$sampler.verdict" || fail "$suite says something else under $sampler"
    samples=$(profile "{service=\"suite-$suite-$sampler\"}" | json "d['samples']")
    say "$suite, $sampler: $(tr '\n' ' ' <"$W/$suite.$sampler.verdict")($samples samples)"
  done
done
