/* SPDX-License-Identifier: Apache-2.0 */
/* Faults between a board and its collector, as shares of the batches sent. */
#ifndef FLEET_FAULTS_H
#define FLEET_FAULTS_H

#include <stdint.h>

#define FAULTS(X)                                                                           \
  X(NONE, "none")                                                                           \
  X(RESET, "reset")         /* RST in the middle of the frame, or just after it */          \
  X(LOSE_ACK, "lose-ack")   /* the batch arrives, no ack returns, then RST */               \
  X(BLACKHOLE, "blackhole") /* nothing gets through either way; a half-open line is left */ \
  X(DELAY, "delay")         /* the frame and those behind it arrive late */                 \
  X(SLOW, "slow")           /* a reader of 256 and writer of 4096 bytes/s from now on */    \
  X(DUPLICATE, "duplicate") /* the batch is sent twice */                                   \
  X(CLOCK, "clock")         /* the board's wall clock jumps */

enum fault {
#define X(fault, name) FAULT_##fault,
  FAULTS(X)
#undef X
      FAULT_COUNT
};

struct faults {
  double shares[FAULT_COUNT];
};

/* Reads "reset=0.02,duplicate=0.1"; the shares together at most 1.  Returns 0 or -EINVAL. */
int faults_parse(const char *text, struct faults *ret);

const char *faults_name(enum fault fault);

/* Draws a fault. */
enum fault faults_draw(const struct faults *faults, uint64_t *random);

#endif
