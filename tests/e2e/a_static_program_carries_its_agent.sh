#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# libfleetprof.a, linked into static programs of glibc and of musl by the line of docs/running.md.
# They are sampled by timers in all threads, keep their signals, and run normally without a daemon.
# A program linked without it, and without a loader for a preload, is sampled by perf.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
parts=$FLEETPROF_PREFIX/lib/fleetprof
start_collector
enroll static
fleetprofd --foreground --state "$B" --collector "127.0.0.1:$A" >"$B/fleetprofd.log" 2>&1 &
started+=($!)
until_true 10 test -S "$B/fleetprofd.sock" || fail "the daemon has no socket"

link_with_agent() { # link_with_agent COMPILER NAME SOURCE FLAGS...
  local compiler=$1 name=$2 source=$3
  shift 3
  "$compiler" -O2 -g "$@" "$source" -o "$W/$name" "$parts/libfleetprof.a" "-Wl,@$parts/libfleetprof.link" -pthread -lm 2>"$W/link.log" ||
    fail "$compiler cannot link $name: $(head -n 3 "$W/link.log")"
}
has_it_all() { [ "$(profile "{service=\"$1\"}" | json 'd["total"]')" -gt 1700000000 ]; }

programs=()
sampled() { # sampled COMPILER NAME FLAGS...
  local name=$2
  link_with_agent "$1" "$name" "$here/../targets/truth.c" "${@:3}"
  FLEETPROF_SOCKET=/nonexistent "$W/$name" 0.1 >/dev/null || fail "$name: without a daemon it ended with $?"
  FLEETPROF_SOCKET=$B/fleetprofd.sock FLEETPROF_SAMPLER=timer "$W/$name" 2 >"$W/$name.truth" || fail "$name: ended with $?"
  [ "$(nm -g --defined-only "$W/$name" | grep -cE ' (sampler|control|ring|hooks)_')" = 0 ] || fail "$name has names of ours"
  programs+=("$name")
}
sampled gcc of_glibc -static
sampled gcc of_glibc_pie -static-pie
if command -v musl-gcc >/dev/null; then sampled musl-gcc of_musl -static; else without musl "musl-gcc is not installed"; fi
for name in "${programs[@]}"; do
  until_true 30 has_it_all "$name" || fail "$name: $(profile "{service=\"$name\"}")"
  until_true 30 names_are_settled || fail "names do not settle"
  profile "{service=\"$name\"}" >"$W/answer"
  truth_told "$name" "$W/answer" "$W/$name.truth" .05 .05 .9 || fail "$name is not told truly"
done

# A program that takes the agent's signal has it.
cat >"$W/taker.c" <<'SOURCE'
#include <signal.h>
#include <stdio.h>
static volatile sig_atomic_t mine, others;
static void on_signal(int signal, siginfo_t *event, void *context) {
  (void)signal, (void)context;
  if (event->si_code == SI_USER || event->si_code == SI_TKILL) mine++; else others++;
}
int main(void) {
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO}, before;
  volatile unsigned long x = 0;
  if (sigaction(SIGURG, &action, &before) != 0 || before.sa_handler != SIG_DFL) return 1;
  while (x < 300000000) x++;
  raise(SIGURG);
  printf("%d %d\n", (int)mine, (int)others);
  return 0;
}
SOURCE
link_with_agent gcc taker "$W/taker.c" -static
answer=$(FLEETPROF_SOCKET=$B/fleetprofd.sock FLEETPROF_SAMPLER=timer "$W/taker") || fail "a program that takes SIGURG ended with $?"
[ "$answer" = "1 0" ] || fail "a program that takes SIGURG got (own, others') $answer"
