/* SPDX-License-Identifier: Apache-2.0 */
/* A worker as it runs, but without its loop and its socket: the keeper's rings and books, a keeper
   that answers, the pipeline down to a spool in a directory of its own.  And programs for it. */
#ifndef TESTS_LADDER_FIXTURE_H
#define TESTS_LADDER_FIXTURE_H

#include "daemon/ladder.h"

#include "keeper/settings.h"
#include "targets/perf_running.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct ladder_bench {
  struct worker worker;
  struct keeper keeper;
  struct settings settings;
  pid_t program; /* one thread that works, and stops on request */
  pthread_t holder;
  int holder_socket;
};

extern struct ladder_bench *bench;

/* bench->keeper.perf.count is 0 where the kernel gives no perf events. */
int ladder_make(void **state);
int ladder_unmake(void **state);

/* Starts a program that works; also one that has started another working program, in *RET_CHILD. */
pid_t program_start(void);
pid_t program_start_two(pid_t *ret_child);
void program_end(pid_t pid);
/* Waits until PID has had MS more of CPU time. */
void program_spend(pid_t pid, uint64_t ms);

/* The terms with which PID would register. */
struct hold_target held_of(pid_t pid);
struct perf_running running_of(pid_t pid);

/* PID sampled by perf from now on. */
struct target *begin_perf(pid_t pid);
/* PID's ring, made and registered; it stands behind the target BEHIND, or 0. */
struct target *begin_ring(pid_t pid, uint32_t behind, enum ring_control control);

/* Runs ladder_step as if it were due. */
void step(void);
/* The perf target of PID; NULL if there is none. */
struct target *perf_of(pid_t pid);
/* CPU time that TARGET's events have counted. */
uint64_t counted_by(const struct target *target);
/* Of all windows so far: the weight of all their samples. */
uint64_t shipped_ns(void);
/* Descriptors that this process has. */
unsigned descriptors(void);

#endif
