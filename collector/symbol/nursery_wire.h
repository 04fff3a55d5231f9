/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between a nursery and its owner over a packet socket. A job is a head with descriptors
   (the file, its index, an optional list of missing files). Packets of one byte with the
   supplements' descriptors follow, as many as needed. The result is one answer. */
#ifndef SYMBOL_NURSERY_WIRE_H
#define SYMBOL_NURSERY_WIRE_H

#include "nursery.h"

#include <sys/socket.h>

enum {
  NURSERY_SOCKET = 3, /* the nursery's end; between jobs its only descriptor besides /dev/null */
  NURSERY_DESCRIPTORS_MAX = 3 + WORKER_SUPPLEMENTS_MAX,
  NURSERY_PACKET_DESCRIPTORS = 250, /* the kernel passes at most 253 at once */
};

struct nursery_head {
  uint32_t depth, supplement_count;
  uint32_t has_missing; /* the third descriptor is present */
};

struct nursery_answer {
  int32_t error; /* 0, or -errno: no worker could be started */
  struct nursery_result result;
};

union nursery_descriptors {
  char bytes[CMSG_SPACE(NURSERY_PACKET_DESCRIPTORS * sizeof(int))];
  struct cmsghdr align;
};

#endif
