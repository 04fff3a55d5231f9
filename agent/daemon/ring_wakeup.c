/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's rings are drained at each tick, which suffices for programs at ordinary rates: 99 Hz
   with 30 frames fill a CPU's 256 KiB in ten seconds.  A program at 10 kHz with 120 frames fills it
   in 25 ms, and samples of all programs are lost with it.

   So the worker also polls the rings.  The kernel makes a ring's anchor readable whenever half of
   the ring has been written (its default for a mapping), once per half.  The other half covers the
   time until the worker runs.

   The anchors are events on the supervisor: once that has exited, they are readable for ever, with
   empty rings.  So an ending worker stops polling them; its ticks are short then (ending.c). */
#include "ring_wakeup.h"
#include "worker.h"

#include "common/clock.h"

#include <errno.h>
#include <event2/event.h>

static void on_half(evutil_socket_t fd, short what, void *context) {
  struct worker *worker = context;
  (void)fd;
  (void)what;
  if (worker->stop_by_ns != 0) {
    event_del(event_base_get_running_event(worker->loop));
    return;
  }
  if (drain_run_events(&worker->drain) > 0) worker->busy_ns = clock_monotonic_ns();
  table_store_step(worker->tables);
}

static int listen_to(struct worker *worker, int anchor) {
  struct event *event = event_new(worker->loop, anchor, EV_READ | EV_PERSIST, on_half, worker);
  if (event == NULL) return -ENOMEM;
  return event_add(event, NULL) == 0 ? 0 : -ENOMEM;
}

int ring_wakeup_start(struct worker *worker) {
  const struct perf_rings *rings = &worker->keeper->perf;
  int error = 0;
  for (unsigned i = 0; i < rings->count && !error; i++)
    error = listen_to(worker, rings->cpus[i].fd);
  return error;
}
