/* SPDX-License-Identifier: Apache-2.0 */
/* Connections that are not authenticated yet: their handshake or enrolment is under way, in the
   order in which they came.  Pure. */
#ifndef INGEST_VESTIBULE_H
#define INGEST_VESTIBULE_H

#include <stdbool.h>
#include <stdint.h>

struct sockaddr;

enum { VESTIBULE_PLACES = 1024, VESTIBULE_ADDRESS_BYTES = 16 };

struct vestibule_guest {
  uint64_t id; /* of the connection */
  uint64_t since_ns;
  uint8_t address[VESTIBULE_ADDRESS_BYTES];
};

struct vestibule {      /* all-zero: empty, and as many of one address as there are places */
  unsigned per_address; /* 0: no limit */
  unsigned count;
  struct vestibule_guest guests[VESTIBULE_PLACES];
};

bool vestibule_is_full(const struct vestibule *vestibule);

/* Lets connection ID from PEER in at NOW_NS (monotonic).  Returns false when there is no place, or
   none for that address: an IPv4 address, or the first half of an IPv6 one. */
bool vestibule_add(struct vestibule *vestibule, uint64_t id, const struct sockaddr *peer,
                   uint64_t now_ns);

/* It is known now, or gone. */
void vestibule_remove(struct vestibule *vestibule, uint64_t id);

/* Which connections to evict at NOW_NS: puts those into RET that have been here for longer than
   others should wait for a place, the oldest first, and returns how many.  While there are places,
   only those of an address that has all of its places. */
unsigned vestibule_overdue(const struct vestibule *vestibule, uint64_t now_ns,
                           uint64_t ret[VESTIBULE_PLACES]);

#endif
