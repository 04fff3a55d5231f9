/* SPDX-License-Identifier: Apache-2.0 */
/* A process that ends before its first sample is in nobody's profile, and a script of a thousand
   such commands would be a script alone.  So at its end each adds its CPU time to the ring's
   header: by one system call, the only one that we make in a program that may meanwhile have put
   itself into a sandbox.  A filter that kills for it would turn a good end into a bad one, so it is
   made only where the gate is open and sandbox.h knows of no way past it; the others say nothing.
   Nor does a forked child of a program that loads plug-ins: what they are is known to the loader,
   whose lock a thread that is not in the child may have held.

   What the ring was handed over with (begin_cpu_ns) was spent by an earlier program in this process
   or is its start-up that the daemon knows of; a forked child begins at 0.

   _exit, a fatal signal and exec run no destructor.  The daemon learns of an exec by itself. */
#include "exit_time.h"
#include "call_gate.h"
#include "raw_clock.h"
#include "ring/wide.h"
#include "sandbox.h"

#include <time.h>

static struct {
  struct ring_header *header; /* NULL: nothing is said */
  uint64_t begin_ns;
  struct sandbox_objects objects;
  bool is_child;
} exit_time;

void exit_time_setup(const struct ring_writer *ring) {
  struct ring_header *header = (struct ring_header *)(void *)ring->base;
  if (!sandbox_begin(&exit_time.objects)) return;
  exit_time.begin_ns = header->begin_cpu_ns;
  exit_time.header = header;
}

void exit_time_in_child(void) {
  exit_time.begin_ns = 0;
  exit_time.is_child = true;
}

static bool is_in_doubt(void) {
  if (exit_time.is_child) return exit_time.objects.has_plugins;
  return sandbox_may_have_come(&exit_time.objects);
}

void exit_time_say(void) {
  uint64_t ns = 0;
  if (exit_time.header == NULL || is_in_doubt() || !call_gate_enter()) return;
  bool is_known = raw_clock_ns(CLOCK_PROCESS_CPUTIME_ID, &ns);
  call_gate_leave();
  if (!is_known) return;
  if (ns <= exit_time.begin_ns) return;
  /* Release: the daemon that sees this sees all records before it. */
  wide_add(&exit_time.header->exit_cpu_ns, ns - exit_time.begin_ns);
  exit_time.header = NULL;
}
