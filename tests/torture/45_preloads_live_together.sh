#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 45: the agent beside jemalloc, tcmalloc, heaptrack and an LD_AUDIT library, in both orders; in
# programs built with AddressSanitizer, and under valgrind, whose thread checkers report nothing
# about the agent.
. "$(dirname "$0")/lib.sh"
HZ=5000
board preloads
is_said_of_valgrind() { [ "$(asked "any('thread checker' in t['why'] or t['sampler'] == 'perf' and 'by exec' in t['why'] for t in d['targets'])")" = yes ]; }
printf 'print(sum(len(str(i)) for i in range(%s)))\n' "$(pick 300000 30000000)" >"$W/program.py"
library() { ldconfig -p | awk -v name="$1" '$1 == name { print $NF; exit }'; }
try() { # try NAME PRELOAD...: both orders, beside the agent
  local name=$1 others=$2 order plain
  plain=$(LD_PRELOAD=$others /usr/bin/python3 "$W/program.py" 2>&1) || fail "$name alone: $plain"
  for order in "$agent:$others" "$others:$agent"; do
    before=$(produced)
    for attempt in 1 2 3; do # an agent gives up at a daemon that is busy
      LD_PRELOAD=$order FLEETPROF_SAMPLER=timer FLEETPROF_HZ=$HZ FLEETPROF_SOCKET=$B/fleetprofd.sock /usr/bin/python3 "$W/program.py" >"$W/run.out" 2>&1 \
        || fail "$order: ended with $?: $(cat "$W/run.out")"
      [ "$(cat "$W/run.out")" = "$plain" ] || fail "$order: $(cat "$W/run.out")"
      at_least 5 "$before" && break
      [ $attempt -lt 3 ] || fail "$order: not sampled"
    done
    [ "$order" = "$agent:$others" ] || is_long || continue
    LD_PRELOAD=$order FLEETPROF_SAMPLER=timer FLEETPROF_HZ=$HZ FLEETPROF_SOCKET=$B/fleetprofd.sock "$torture/frenzy" 1 libm.so.6 >"$W/run.out" 2>&1 \
      || fail "$order: frenzy ended with $?: $(cat "$W/run.out")"
  done
  say "$name: both orders"
}
all=
for name in libjemalloc.so.2 libtcmalloc_minimal.so.4 libtcmalloc.so.4; do
  path=$(library $name)
  [ -n "$path" ] || { without $name "it is not installed"; continue; }
  try $name "$path"
  all=$all${all:+:}$path
done
tracker=$(find /usr/lib -name libheaptrack_preload.so 2>/dev/null | head -n 1)
if [ -n "$tracker" ]; then
  DUMP_HEAPTRACK_OUTPUT=$W/heaptrack
  export DUMP_HEAPTRACK_OUTPUT
  try heaptrack "$tracker"
  unset DUMP_HEAPTRACK_OUTPUT
else
  without heaptrack "it is not installed"
fi
if [ -n "$all" ]; then try "all at once" "$all"; fi
# A program built with AddressSanitizer requires its library to be first, and so do its children.
cat >"$W/clean.c" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static void *work(void *unused) {
  volatile unsigned long sum = 0;
  for (long i = 0; i < 40000000; i++) sum += (unsigned long)i;
  free(malloc(100));
  return unused;
}
int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  puts("clean");
}
C
if compile "$W/clean" gcc -g -fsanitize=address "$W/clean.c"; then
  before=$(produced)
  sampled timer sh -c "\"$W/clean\"; \"$W/clean\"" >"$W/run.out" 2>&1 || fail "AddressSanitizer: ended with $?: $(cat "$W/run.out")"
  [ "$(cat "$W/run.out")" = "clean
clean" ] || fail "AddressSanitizer: $(cat "$W/run.out")"
  at_least 5 "$before" || fail "AddressSanitizer: not sampled"
  say "AddressSanitizer: two programs, as they were"
fi
# memcheck, helgrind and drd report nothing for a clean program. The thread checkers take atomics
# for races, so the agent stays out there and reports that.
cat >"$W/threads.c" <<'C'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long count;
static void *work(void *unused) {
  for (int i = 0; i < 2000; i++) {
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
  }
  return unused;
}
int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  printf("%ld\n", count);
}
C
if ! command -v valgrind >/dev/null; then
  without valgrind "it is not installed"
elif compile "$W/threads" gcc -g "$W/threads.c" -pthread; then
  for tool in memcheck helgrind drd; do
    valgrind --tool=$tool -q --error-exitcode=9 "$W/threads" >"$W/plain.out" 2>&1 || { without $tool "it complains without us, too"; continue; }
    sampled timer valgrind --tool=$tool -q --error-exitcode=9 "$W/threads" >"$W/run.out" 2>&1 || fail "$tool: ended with $?: $(head -n 5 "$W/run.out")"
    cmp -s "$W/plain.out" "$W/run.out" || fail "$tool: $(head -n 5 "$W/run.out")"
  done
  for tool in helgrind drd; do
    fleetprof run --state "$B" --flush-timeout 0s --sampler timer --hz $HZ -- valgrind --tool=$tool -q sleep 60 &
    program=$!
    started+=($program)
    until_true 10 is_said_of_valgrind || fail "$tool: status does not say why the agent stays out: $(cat "$W/status")"
    kill $program # run hands it on
    wait $program
    [ $? = 143 ] || fail "$tool: sleep was not ended by TERM"
  done
  say "valgrind: memcheck, helgrind and drd report nothing"
fi
cat >"$W/audit.c" <<'C'
#define _GNU_SOURCE
#include <link.h>
unsigned la_version(unsigned version) { return version; }
unsigned la_objopen(struct link_map *map, Lmid_t id, uintptr_t *cookie) { (void)map; (void)id; (void)cookie; return LA_FLG_BINDTO | LA_FLG_BINDFROM; }
C
if compile "$W/audit.so" gcc -shared -fPIC "$W/audit.c"; then
  before=$(produced)
  LD_AUDIT=$W/audit.so LD_PRELOAD=$agent FLEETPROF_SAMPLER=timer FLEETPROF_HZ=$HZ FLEETPROF_SOCKET=$B/fleetprofd.sock /usr/bin/python3 "$W/program.py" >"$W/run.out" 2>&1 \
    || fail "LD_AUDIT: ended with $?: $(cat "$W/run.out")"
  at_least 5 "$before" || fail "LD_AUDIT: not sampled"
  say "LD_AUDIT: as it was"
fi
