/* SPDX-License-Identifier: Apache-2.0 */
/* What a nursery and its owner say to each other over a socket of packets: a job is one byte, its
   depth, with descriptors (the file, its index, its supplements); what became of it is one
   answer. */
#ifndef SYMBOL_NURSERY_WIRE_H
#define SYMBOL_NURSERY_WIRE_H

#include "nursery.h"

#include <sys/socket.h>

enum {
  NURSERY_SOCKET = 3, /* the nursery's end: its only descriptor between jobs, but for /dev/null */
  NURSERY_DESCRIPTORS_MAX = 2 + WORKER_SUPPLEMENTS_MAX,
};

struct nursery_answer {
  int32_t error; /* 0, or -errno: no worker could be had */
  struct nursery_result result;
};

union nursery_descriptors {
  char bytes[CMSG_SPACE(NURSERY_DESCRIPTORS_MAX * sizeof(int))];
  struct cmsghdr align;
};

#endif
