/* SPDX-License-Identifier: Apache-2.0 */
/* What a nursery and its owner say to each other over a socket of packets.  A job is a head with
   descriptors (the file, its index, a list of what is missing), then as many packets of a byte with
   descriptors of supplements as these take; what became of it is one answer. */
#ifndef SYMBOL_NURSERY_WIRE_H
#define SYMBOL_NURSERY_WIRE_H

#include "nursery.h"

#include <sys/socket.h>

enum {
  NURSERY_SOCKET = 3, /* the nursery's end: its only descriptor between jobs, but for /dev/null */
  NURSERY_DESCRIPTORS_MAX = 3 + WORKER_SUPPLEMENTS_MAX,
  NURSERY_PACKET_DESCRIPTORS = 250, /* the kernel hands over 253 at once */
};

struct nursery_head {
  uint32_t depth, supplement_count;
  uint32_t has_missing; /* the third descriptor is there */
};

struct nursery_answer {
  int32_t error; /* 0, or -errno: no worker could be had */
  struct nursery_result result;
};

union nursery_descriptors {
  char bytes[CMSG_SPACE(NURSERY_PACKET_DESCRIPTORS * sizeof(int))];
  struct cmsghdr align;
};

#endif
