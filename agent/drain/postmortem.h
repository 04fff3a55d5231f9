/* SPDX-License-Identifier: Apache-2.0 */
/* What a flight recorder or a histogram kept of a process that is gone, as one batch. */
#ifndef DRAIN_POSTMORTEM_H
#define DRAIN_POSTMORTEM_H

#include "common/arena.h"
#include "proto/batch.h"

/* "recorder=post-mortem" on every sample of a recorder: these are a program's last moments, and
   more of it may have been sampled otherwise. */
#define POSTMORTEM_LABEL "recorder"
#define POSTMORTEM_VALUE "post-mortem"

enum { POSTMORTEM_ARENA_BYTES = 24 << 20 };

/* Reads the SIZE bytes of a recorder, or what the counters of a histogram are past what was shipped
   of them, at RING (8-byte aligned) into RET, whose arrays are in ARENA and whose counters are the
   caller's to fill in.  A histogram's journal is settled by now.  A sample is one value or expiry;
   without any the batch has none.  Returns 0, -EPROTO for another version, -EBADMSG when it makes
   no sense, or -ENOMEM.  Pure. */
int postmortem_read(const void *ring, size_t size, struct arena *arena, struct batch *ret);

#endif
