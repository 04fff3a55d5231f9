/* SPDX-License-Identifier: Apache-2.0 */
/* Sends a batch as a delta to the previous one, if the collector has that.  It is shorter, because
   a program's work changes little.  Batches in the spool are stored whole. */
#ifndef UPLINK_REFERRAL_H
#define UPLINK_REFERRAL_H

#include "proto/payloads.h"
#include "proto/prefix.h"

/* Encodes BATCH as a delta to LAST if both belong to one run and it saves bytes.  The bytes are in
   SHORTER, which is empty before and owned by the caller.  LAST then becomes this batch, or none if
   it exceeds BYTES_MAX (from the collector) or LIMIT_PREFIX_BYTES.  On failure BATCH is
   unchanged. */
void referral_make(struct prefix *last, uint32_t bytes_max, struct envelope *batch,
                   struct buf *shorter);

#endif
