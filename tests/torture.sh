#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The long forms, for manual or nightly runs: every scenario of tests/torture (its other halves, an
# ordinary user and perf events refused, in their short forms: tests/torture/lib.sh), repeated
# scripts about truth and kill -9, the agent of other CPUs under emulation, hostile programs under
# AddressSanitizer, the unit tests under ThreadSanitizer, and every fuzz target under libFuzzer with
# AddressSanitizer. Prints one line a scenario (pass, FAIL, or not run with the reason), followed by
# the parts it left out; ends with "N passed, N failed, N not run".
#
#   ./tests/torture.sh [ROUNDS] [FUZZ_SECONDS]     (default 5 rounds, 300 s a target)
#   ./tests/torture.sh --scenarios [NN...]         scenarios alone, all or by number
#   ./tests/torture.sh --fuzz SECONDS [NAME...]    fuzz targets alone: a day of HTTP is --fuzz 86400 http_head route selector
set -u
cd "$(dirname "$0")/.."
. deploy/packages/install.sh
scenarios=()
fuzzed=()
if [ "${1:-}" = --scenarios ]; then
  scenarios=("${@:2}")
  rounds=
elif [ "${1:-}" = --fuzz ]; then
  scenarios=(none)
  rounds=fuzz
  seconds=${2:-300}
  fuzzed=("${@:3}")
else
  rounds=${1:-5}
  seconds=${2:-300}
fi
install_packages build test torture cross boards || exit 1
build=build-test
passed=0 failed=0 not_run=0
verdict() {   # verdict NAME COMMAND...
  local name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name"
  fi
}

cmake -S . -B $build -DCMAKE_BUILD_TYPE=RelWithDebInfo -DFLEETPROF_DEV=ON -DWITH_TESTS=ON -DWITH_SANITIZED=ON >/dev/null &&
  cmake --build $build -j "$(nproc)" >/dev/null && cmake --install $build --prefix $build/installed >/dev/null || exit 1
export FLEETPROF_PREFIX=$PWD/$build/installed FLEETPROF_TARGETS=$PWD/$build/tests/targets
export FLEETPROF_TORTURE=$PWD/$build/tests/torture/targets

# A scenario's output is shown if it failed; else only its verdict and the parts that were not run.
scenario() { # scenario SCRIPT [HALF]
  local how=TORTURE_LONG=1
  [ -z "${2:-}" ] || how=TORTURE_HALF=$2
  judge "$(basename "$1" .sh)${2:+, $2}" env "$how" "$1"
}
judge() { # judge NAME COMMAND...
  local name=$1 output
  output=$("${@:2}" 2>&1)
  case $? in
  0) passed=$((passed + 1)) && echo "$name: pass" && grep '^without ' <<<"$output" | sed 's/^/  /' ;;
  77) not_run=$((not_run + 1)) && echo "$name: $(grep '^not run: ' <<<"$output" | tail -n 1)" ;;
  *) failed=$((failed + 1)) && echo "$name: FAIL" && sed 's/^/  /' <<<"$output" ;;
  esac
}
# The halves of a scenario, as listed by CTest.
halves() { ctest --test-dir $build -N -R "^torture/$(basename "$1" .sh)/" | sed -n 's/.*: torture\/.*\///p'; }
summary() {
  echo "$passed passed, $failed failed, $not_run not run"
  [ "$failed" = 0 ]
  exit
}
for script in tests/torture/[0-9]*.sh; do
  number=$(basename "$script" | cut -c 1-2)
  [ ${#scenarios[@]} = 0 ] || [[ " ${scenarios[*]} " == *" $number "* ]] || continue
  scenario "$script"
  for half in $(halves "$script"); do scenario "$script" "$half"; done
done
[ -n "$rounds" ] || summary

if [ "$rounds" != fuzz ]; then
# Other CPUs under emulation.
for script in tests/boards/user/*_*.sh; do scenario "$script"; done
# Whole boards in an emulator, each with Debian's kernel for its port unless stated otherwise.
boards=tests/boards
for port in armhf arm64 mipsel; do
  judge "a whole board, $port" $boards/a_board_tells_the_truth.sh $port
  judge "its signals, $port" env FORKS=2000 EINTR_SECONDS=200 SECONDS_MOST=3600 $boards/signals_hurt_no_call.sh $port
done
judge "a whole board at 1970" env CLOCK=1970 $boards/a_board_tells_the_truth.sh armhf
judge "a whole board, HZ=100" $boards/a_board_tells_the_truth.sh armhf old
judge "its signals, an old kernel" env FORKS=2000 EINTR_SECONDS=200 SECONDS_MOST=3600 $boards/signals_hurt_no_call.sh armhf old
judge "ten minutes on a board of 32 MB" $boards/a_small_board_stays_flat.sh

for half in "" user; do scenario tests/torture/own_suites_pass.sh $half; done
scenario tests/torture/a_new_user_types_two_commands.sh

# Comparison of names, lines and inline chains with other tools', and coverage of intervals and
# verdicts.
judge "names beside other tools" tests/bench/symbols_agree.sh $build
judge "intervals and verdicts" $build/tests/bench/statistics

# All linkers, kinds of programs, page sizes, samplers and modes.
scenario tests/e2e/every_linkers_programs_are_told_alike.sh

# Two functions 2:1 after each sleep, for a minute as each user.
TORTURE_LONG=1 verdict the_asked_rate_is_achieved tests/e2e/the_asked_rate_is_achieved.sh

for round in $(seq "$rounds"); do
  for promise in the_truth_is_told killing_the_worker_is_counted killing_the_collector_loses_nothing \
    killing_everything_is_counted a_full_disk_loses_only_what_it_counts; do
    echo "round $round: $promise"
    verdict "$promise" tests/e2e/$promise.sh
  done
done

cmake -S . -B build-test-asan -DCMAKE_BUILD_TYPE=RelWithDebInfo -DFLEETPROF_DEV=ON -DWITH_TESTS=ON \
  -DFLEETPROF_SANITIZE=address >/dev/null && cmake --build build-test-asan -j "$(nproc)" >/dev/null || exit 1
TORTURE_LONG=1 verdict "hostile programs under AddressSanitizer" ctest --test-dir build-test-asan -R a_hostile_target \
  --output-on-failure -Q

cmake -S . -B build-tsan -DCMAKE_BUILD_TYPE=RelWithDebInfo -DFLEETPROF_DEV=ON -DWITH_TESTS=ON \
  -DFLEETPROF_SANITIZE=thread >/dev/null && cmake --build build-tsan -j "$(nproc)" >/dev/null || exit 1
verdict "ThreadSanitizer" ctest --test-dir build-tsan -L sanitized --output-on-failure -Q
fi

fuzz=build-fuzz
CC=clang cmake -S . -B $fuzz -DCMAKE_BUILD_TYPE=RelWithDebInfo -DWITH_TESTS=ON -DWITH_FUZZERS=ON \
  -DFLEETPROF_SANITIZE=address >/dev/null || exit 1
for source in tests/fuzz/fuzz_*.c; do
  name=$(basename "$source" .c)
  [ ${#fuzzed[@]} = 0 ] || [[ " ${fuzzed[*]} " == *" ${name#fuzz_} "* ]] || continue
  cmake --build $fuzz -j "$(nproc)" --target "${name}_libfuzzer" >/dev/null 2>&1 || {
    verdict "$name does not build" false
    continue
  }
  corpus=$(mktemp -d)
  echo "$name for $seconds s"
  verdict "$name" "$fuzz/tests/fuzz/${name}_libfuzzer" -max_total_time="$seconds" -rss_limit_mb=2048 \
    -verbosity=0 -print_final_stats=1 "$corpus" "tests/fuzz/corpus/$name"
  rm -rf "$corpus"
done
summary
