/* SPDX-License-Identifier: Apache-2.0 */
/* The target's side of switch_format.h: the row of its process. */
#ifndef RING_RING_PROCESS_H
#define RING_RING_PROCESS_H

#include "ring_writer.h"

#include <stdbool.h>

/* The row of PID, which is added if there is none yet, or NULL if all are taken.  Signal-safe. */
struct ring_process *ring_process_enter(const struct ring_writer *ring, uint32_t pid);

/* Requests permission for SERIAL. True if ROW may make the system calls that applying it needs.
   Signal-safe. */
bool ring_process_ask(struct ring_process *row, uint32_t serial);

/* Records that SERIAL is applied.  Signal-safe. */
void ring_process_say_seen(const struct ring_writer *ring, struct ring_process *row,
                           uint32_t serial);

/* Records that ARMED threads have a timer now.  Signal-safe. */
void ring_process_say_armed(struct ring_process *row, uint32_t armed);

/* Records that this process has left sampling for good because of WHY.  Signal-safe. */
void ring_process_say_left(struct ring_process *row, enum ring_left why);

/* Call begin before a fork, and end in the child once it has a row, or no row is free.
   Signal-safe. */
void ring_process_begin_fork(const struct ring_writer *ring);
void ring_process_end_fork(const struct ring_writer *ring);

/* The serial, the address of its word, the control, and the period in units of UNIT_NS, at least 1.
   Signal-safe. */
uint32_t ring_process_serial(const struct ring_writer *ring);
const _Atomic uint32_t *ring_process_serial_word(const struct ring_writer *ring);
enum ring_control ring_process_control(const struct ring_writer *ring);
uint32_t ring_process_scale(const struct ring_writer *ring, uint64_t unit_ns);

#endif
