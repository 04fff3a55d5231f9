/* SPDX-License-Identifier: Apache-2.0 */
/* A batch as it is sent where the collector has the one before: in fewer bytes, since a program
   does now much of what it did then.  What waits in the spool stands alone. */
#ifndef UPLINK_REFERRAL_H
#define UPLINK_REFERRAL_H

#include "proto/payloads.h"
#include "proto/prefix.h"

/* Lets BATCH refer to LAST, with its bytes in SHORTER (empty, the caller's), where both are of one
   run and that saves some.  Then LAST is this batch; or none, where it is over BYTES_MAX, which the
   collector said, or over LIMIT_PREFIX_BYTES.  Where anything fails BATCH stays as it is. */
void referral_make(struct prefix *last, uint32_t bytes_max, struct envelope *batch,
                   struct buf *shorter);

#endif
