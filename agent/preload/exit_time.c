/* SPDX-License-Identifier: Apache-2.0 */
/* Records a process's CPU time at its end. A process that ends before its first sample is in no
   profile, and a script of a thousand such commands would show only the shell. So each process adds
   its CPU time to the ring's header at its end, with one system call. It is the only call that the
   agent makes in a program that may have entered a sandbox meanwhile. A filter that kills for it
   would turn a normal exit into a failure. So the call is made only if the gate is open and
   sandbox.h finds no way past the gate; other processes record nothing. A forked child of a program
   that loads plug-ins records nothing either. Listing them needs the loader's lock, which a thread
   that does not exist in the child may have held.

   begin_cpu_ns, which the ring came with, was spent by an earlier program in this process or is
   start-up time that the daemon has counted. A forked child begins at 0.

   _exit, a fatal signal and exec run no destructor. The daemon detects an exec by itself. */
#include "exit_time.h"
#include "call_gate.h"
#include "raw_clock.h"
#include "ring/wide.h"
#include "sandbox.h"

#include <time.h>

static struct {
  struct ring_header *header; /* NULL: nothing is recorded */
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
  /* Release: a daemon that reads this also sees all records written before. */
  wide_add(&exit_time.header->exit_cpu_ns, ns - exit_time.begin_ns);
  exit_time.header = NULL;
}
