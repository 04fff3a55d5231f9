#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A coroutine's stack is whole by both samplers, also deeper than a page, and never continues on the
# stack that it was entered from. By timer, a handler on an alternate stack continues at the
# interrupted code; perf copies only one stack, and the report shows that.
. "$(dirname "$0")/lib.sh"
cat >"$W/fibers.c" <<'C'
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>
static ucontext_t home, own;
static void burn(int ms) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  long long until = now.tv_sec * 1000000000LL + now.tv_nsec + ms * 1000000LL;
  for (long long at = 0; at < until; at = now.tv_sec * 1000000000LL + now.tv_nsec) {
    for (volatile int i = 0; i < 20000; i++) {}
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  }
}
__attribute__((noinline)) void task_leaf(void) { burn(30); __asm__ volatile(""); }
__attribute__((noinline)) void task_step(int depth) {
  volatile char frame[1000];
  frame[0] = 1;
  if (depth > 0) task_step(depth - 1); else task_leaf();
  (void)frame[0];
}
static void task(void) { for (;;) { task_step(12); swapcontext(&own, &home); } }
__attribute__((noinline)) void host_work(void) { burn(30); __asm__ volatile(""); }
__attribute__((noinline)) void in_handler(void) { burn(30); __asm__ volatile(""); }
static void handler(int number) { (void)number; in_handler(); __asm__ volatile(""); }
__attribute__((noinline)) void interrupted(void) { raise(SIGUSR1); __asm__ volatile(""); }
int main(int argc, char **argv) {
  enum { BYTES = 1 << 18 };
  int rounds = atoi(argv[1]);
  stack_t alternate = {.ss_sp = malloc(BYTES), .ss_size = BYTES};
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  if (argc > 2 && (sigaltstack(&alternate, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0)) return 1;
  getcontext(&own);
  own.uc_stack = (stack_t){.ss_sp = malloc(BYTES), .ss_size = BYTES};
  own.uc_link = &home;
  makecontext(&own, task, 0);
  for (int i = 0; i < rounds; i++) {
    if (argc > 2) { interrupted(); continue; }
    swapcontext(&home, &own);
    host_work();
  }
  return 0;
}
C
cc -O2 -fomit-frame-pointer -o "$W/fibers" "$W/fibers.c" || fail "no compiler"
# share FILE REGEX: percent of the sampled weight whose folded stack matches
share() {
  fleetprof report "$1" -f folded | RE="$2" awk '/^\[(kernel|unsampled)\] / { next } { all += $NF; at = $0; sub(/ [0-9]+$/, "", at)
    if (at ~ ENVIRON["RE"]) hit += $NF } END { printf "%d", all ? 100 * hit / all : -1 }'
}
steps=$(printf ';task_step%.0s' $(seq 13))
for sampler in perf timer; do
  fleetprof run --sampler $sampler --hz 99 --output "$W/$sampler.fp" -- "$W/fibers" 60 2>"$W/said" || fail "fibers by $sampler: $(cat "$W/said")"
  stacks=$(fleetprof report "$W/$sampler.fp" | grep "^stacks:")
  whole=$(share "$W/$sampler.fp" "^([^;]*start_context;)?task$steps;task_leaf;burn")
  [ "$whole" -ge 35 ] || fail "$whole % are whole stacks of the coroutine by $sampler: $stacks"
  [ "$(share "$W/$sampler.fp" 'host_work.*;task_step|task_step.*;host_work')" = 0 ] || fail "a coroutine stands on its host by $sampler"
  fleetprof run --sampler $sampler --hz 99 --output "$W/$sampler.alt.fp" -- "$W/fibers" 60 alternate 2>"$W/said" || fail "a handler by $sampler: $(cat "$W/said")"
  say "$sampler: $whole % in whole coroutines of 15 frames; $stacks"
done
whole=$(share "$W/timer.alt.fp" 'main;interrupted;.*handler;in_handler;burn')
[ "$whole" -ge 80 ] || fail "$whole % of handlers on an alternate stack lead to main by timer"
[ "$(share "$W/perf.alt.fp" '^\[other stack\];.*handler;in_handler;burn')" -ge 80 ] || fail "perf: $(fleetprof report "$W/perf.alt.fp" -f folded | head -n 3)"
fleetprof report "$W/perf.alt.fp" | grep -q "^  other stack: .*--sampler timer" || fail "no advice for a handler by perf"
say "a handler on an alternate stack: $whole % whole by timer"
