/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's side of the switches of a ring: control, period, serial, and the processes that
   apply changes (ring_format.h). Values that a process reports are untrusted, as everything in a
   ring. */
#ifndef RING_RING_SWITCH_H
#define RING_RING_SWITCH_H

#include "ring_reader.h"

struct ring_process_view {
  uint32_t pid; /* 0: free */
  uint32_t permitted, asked, seen, armed;
  uint32_t has_left; /* enum ring_left; unknown values of newer agents count as RING_LEFT_SIGNAL */
};

/* Store the new control or period. It takes effect at ring_switch_raise. */
void ring_switch_set_control(const struct ring_reader *ring, enum ring_control control);
void ring_switch_set_period(const struct ring_reader *ring, uint64_t period_ns);
uint32_t ring_switch_serial(const struct ring_reader *ring);
/* Publishes everything that was stored before as one change. */
void ring_switch_raise(const struct ring_reader *ring);

/* Copies row INDEX (below RING_PROCESSES_MAX). */
void ring_switch_look(const struct ring_reader *ring, unsigned index,
                      struct ring_process_view *ret);
/* Permits SERIAL (0: revokes) to the process in VIEW, unless another process has the row by now. */
void ring_switch_permit(const struct ring_reader *ring, unsigned index,
                        const struct ring_process_view *view, uint32_t serial);
/* Frees the row of a process that is gone. */
void ring_switch_free(const struct ring_reader *ring, unsigned index,
                      const struct ring_process_view *view);

/* True if process PID has a row: it uses the ring, and its row was not freed yet. */
bool ring_switch_has_entered(const struct ring_reader *ring, uint32_t pid);
/* The number of threads with a timer, as reported by PID; 0 if PID has no row. */
uint32_t ring_switch_armed(const struct ring_reader *ring, uint32_t pid);
/* Whether and why PID has left sampling, as reported by itself. */
enum ring_left ring_switch_has_left(const struct ring_reader *ring, uint32_t pid);

/* The number of forks that began and have no registered child yet. */
int32_t ring_switch_forks(const struct ring_reader *ring);

/* The value that a nudge's signal carries. */
uint64_t ring_switch_token(const struct ring_reader *ring);

#endif
