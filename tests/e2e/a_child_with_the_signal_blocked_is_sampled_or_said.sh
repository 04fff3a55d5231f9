#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A child forked while SIGURG is blocked, like the workers of a server that reads signals from a
# descriptor, never has a sample by timer. It is then sampled by perf; where perf is refused, the
# report gives the reason for the missing samples.
. "$(dirname "$0")/lib.sh"
cd "$W" || fail "no folder"
export HOME=$W
cat >deaf.c <<'C'
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) static void burn(double seconds) {
  volatile unsigned long sink = 0;
  struct timespec spent;
  do {
    for (int i = 0; i < 1000000; i++) sink += 1;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  } while ((double)spent.tv_sec + (double)spent.tv_nsec * 1e-9 < seconds);
}
int main(int argc, char **argv) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGURG);
  sigprocmask(SIG_BLOCK, &set, NULL);
  if (argc > 1 && fork() == 0) {
    burn(atof(argv[1]));
    _exit(0);
  }
  return wait(NULL) < 0;
}
C
cc -O1 -o deaf deaf.c || fail "the program is not built"
"$targets/refuse_perf" fleetprof run --output none.fp --sampler timer -- ./deaf 14 & refused=$!
fleetprof run --output some.fp --sampler timer -- ./deaf 16 || fail "the program ended with $?"
wait $refused || fail "perf refused: the program ended with $?"
fleetprof report none.fp >said
grep -Eq 'not(hing was)? sampled: 1 thread with the signal blocked; (perf cannot help|timer: asked for by name)' said || fail "perf refused: silent: $(cat said)"
fleetprof report none.fp --format json | json "'blocked' in d['why'] and 'unreached' in [m['mark'] for m in d['marks']]" | grep -qx yes || fail "perf refused: JSON is silent"
has=$(fleetprof report some.fp --format json | json "sum(f['self_share'] for f in d['functions'] if f['name'] == 'burn')")
say "by perf: burn $has"
json "$has > .1" <<<'{}' | grep -qx yes || fail "perf did not take over: $(fleetprof report some.fp | head -n 8)"
