/* SPDX-License-Identifier: Apache-2.0 */
/* The target's half of switch_format.h: its process's row. */
#ifndef RING_RING_PROCESS_H
#define RING_RING_PROCESS_H

#include "ring_writer.h"

#include <stdbool.h>

/* The row of PID, entered when there is none yet, or NULL when all are taken.  Signal-safe. */
struct ring_process *ring_process_enter(const struct ring_writer *ring, uint32_t pid);

/* Asks for SERIAL.  True when ROW is permitted to make the system calls that it takes.
   Signal-safe. */
bool ring_process_ask(struct ring_process *row, uint32_t serial);

/* Says that SERIAL is obeyed.  Signal-safe. */
void ring_process_say_seen(const struct ring_writer *ring, struct ring_process *row,
                           uint32_t serial);

/* Says that ARMED threads have a timer now.  Signal-safe. */
void ring_process_say_armed(struct ring_process *row, uint32_t armed);

/* Says that this process has left sampling for good because of WHY.  Signal-safe. */
void ring_process_say_left(struct ring_process *row, enum ring_left why);

/* Before a fork, and in its child once that has a row, or none is left.  Signal-safe. */
void ring_process_begin_fork(const struct ring_writer *ring);
void ring_process_end_fork(const struct ring_writer *ring);

/* Control, serial, the word that it lies in, and the period in units of the ring's, at least 1.
 * Signal-safe. */
uint32_t ring_process_serial(const struct ring_writer *ring);
const _Atomic uint32_t *ring_process_serial_word(const struct ring_writer *ring);
enum ring_control ring_process_control(const struct ring_writer *ring);
uint32_t ring_process_scale(const struct ring_writer *ring, uint64_t unit_ns);

#endif
