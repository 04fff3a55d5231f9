/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor: a small process that outlives the worker.  It holds the lock, the socket, the
   counters, the kernel's rings and the targets' registrations, and restarts the worker when it
   dies. */
#ifndef KEEPER_KEEPER_H
#define KEEPER_KEEPER_H

#include "counter_page.h"
#include "hold.h"
#include "porter.h"
#include "settings.h"
#include "table_memory.h"

#include "common/service_notify.h"
#include "perf/perf_ring.h"

struct keeper {
  const struct settings *settings;
  int pid_file;      /* locked */
  int state_lock;    /* locked */
  int listener;      /* the intake's socket */
  int output;        /* the profile file of --output, or -1 */
  int worker_socket; /* to the worker; in the worker: to the supervisor */
  uint64_t run;
  uint64_t start_boottime_ns;
  uint32_t worker_starts;
  struct counter_page *page;
  struct perf_rings perf;
  struct table_memory tables;
  struct porter porter;
  struct hold_table held;
  struct service_notify notify; /* of the service manager that started the daemon, if any */
};

/* The worker's function.  Returns its exit status: 0 ends the daemon, any other value requests a
   restart. */
typedef int keeper_worker(struct keeper *keeper);

/* Locks the state, listens, opens rings and counters.  Returns 0, or -errno with a line for the
   user in ERROR. */
int keeper_open(const struct settings *settings, struct keeper *keeper, char *error,
                size_t error_len);

/* Runs WORKER in a child until TERM or INT arrives or it ends for good.  Returns the exit
   status. */
int keeper_run(struct keeper *keeper, keeper_worker *worker);

/* Removes the socket and the pid file; locks are kept. */
void keeper_stop_listening(struct keeper *keeper);

/* Frees all resources, including the socket if it is still there. */
void keeper_close(struct keeper *keeper);

#endif
