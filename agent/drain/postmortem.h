/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the flight recorder or histogram of a process that is gone into one batch. */
#ifndef DRAIN_POSTMORTEM_H
#define DRAIN_POSTMORTEM_H

#include "common/arena.h"
#include "proto/batch.h"

/* "recorder=post-mortem" marks every sample of a recorder: these are a program's last moments, and
   other samples of it may exist. */
#define POSTMORTEM_LABEL "recorder"
#define POSTMORTEM_VALUE "post-mortem"

enum { POSTMORTEM_ARENA_BYTES = 24 << 20 };

/* Reads the SIZE bytes at RING (8-byte aligned) of a recorder, or the unshipped part of a
   histogram's counters, into RET. Its arrays are in ARENA, and the caller fills in its counters. A
   histogram's journal is settled by now. A sample is one value or expiry; without any the batch has
   none. Returns 0, -EPROTO for another version, -EBADMSG if it is invalid, or -ENOMEM. Pure. */
int postmortem_read(const void *ring, size_t size, struct arena *arena, struct batch *ret);

#endif
