/* SPDX-License-Identifier: Apache-2.0 */
/* Unauthenticated connections, whose handshake or enrolment is under way, in order of arrival.
   Pure. */
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

struct vestibule {      /* all-zero: empty, with no limit per address */
  unsigned per_address; /* 0: no limit */
  unsigned count;
  struct vestibule_guest guests[VESTIBULE_PLACES];
};

bool vestibule_is_full(const struct vestibule *vestibule);

/* Adds connection ID from PEER at NOW_NS (monotonic). Returns false if there is no place, or none
   for that address: an IPv4 address, or the first half of an IPv6 one. */
bool vestibule_add(struct vestibule *vestibule, uint64_t id, const struct sockaddr *peer,
                   uint64_t now_ns);

/* Removes connection ID, which is authenticated or closed. */
void vestibule_remove(struct vestibule *vestibule, uint64_t id);

/* Sets RET to the connections to evict at NOW_NS, the oldest first. These are older than 3 s, and
   all places are taken or their address has used up its places. Returns their number. */
unsigned vestibule_overdue(const struct vestibule *vestibule, uint64_t now_ns,
                           uint64_t ret[VESTIBULE_PLACES]);

#endif
