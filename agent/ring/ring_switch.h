/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's hand on the switches of a ring: control, period, serial, and the processes that are
   told (ring_format.h).  What a process says of itself is a claim like all else in a ring. */
#ifndef RING_RING_SWITCH_H
#define RING_RING_SWITCH_H

#include "ring_reader.h"

struct ring_process_view {
  uint32_t pid; /* 0: free */
  uint32_t permitted, asked, seen, armed;
  uint32_t has_left; /* enum ring_left; others, of newer agents, count as RING_LEFT_SIGNAL */
};

/* Stores what is to be from now on.  Nobody looks before ring_switch_raise. */
void ring_switch_set_control(const struct ring_reader *ring, enum ring_control control);
void ring_switch_set_period(const struct ring_reader *ring, uint64_t period_ns);
uint32_t ring_switch_serial(const struct ring_reader *ring);
/* Makes everything that was stored before visible as one change. */
void ring_switch_raise(const struct ring_reader *ring);

/* Copies what stands in row INDEX, below RING_PROCESSES_MAX. */
void ring_switch_look(const struct ring_reader *ring, unsigned index,
                      struct ring_process_view *ret);
/* Permits SERIAL (0: nothing) to the process that VIEW showed, unless another has the row by now.
 */
void ring_switch_permit(const struct ring_reader *ring, unsigned index,
                        const struct ring_process_view *view, uint32_t serial);
/* Frees the row of a process that is gone. */
void ring_switch_free(const struct ring_reader *ring, unsigned index,
                      const struct ring_process_view *view);

/* True when the process PID has taken the ring into use, and is there still. */
bool ring_switch_has_entered(const struct ring_reader *ring, uint32_t pid);
/* Threads that have a timer, as PID says; 0: it says nothing. */
uint32_t ring_switch_armed(const struct ring_reader *ring, uint32_t pid);
/* Whether and why PID says that it has left sampling. */
enum ring_left ring_switch_has_left(const struct ring_reader *ring, uint32_t pid);

/* Forks that have begun and whose child was not heard of yet. */
int32_t ring_switch_forks(const struct ring_reader *ring);

/* The signal and the value of a nudge. */
uint64_t ring_switch_token(const struct ring_reader *ring);

#endif
