/* SPDX-License-Identifier: Apache-2.0 */
/* A stranger must not be able to keep boards out by standing in the door.

   Places are few (a handshake under way takes some 60 KiB), and when all are taken nobody is
   accepted: the kernel's queue holds the next ones.  Who begins handshakes and does not go on could
   hold all places for the ten seconds of their deadline, again and again.  Two things keep the door
   open: one address may have only so many of the places, and when none is left, in all or of an
   address (behind which a whole site may be), whoever has been here for PATIENCE_NS gives his up.
   A handshake takes two round trips and a millisecond, so that is nobody who means it, but on a
   link so slow that it has to come again.

   At most 1024 of them, in order: finding one is a walk over 32 KiB at the worst, against the
   millisecond that its handshake takes. */
#include "vestibule.h"

#include "common/clock.h"

#include <netinet/in.h>
#include <string.h>

#define PATIENCE_NS (3 * NS_PER_SECOND)

enum { HALF_BYTES = 8 };

static void note_address(const struct sockaddr *peer, uint8_t ret[VESTIBULE_ADDRESS_BYTES]) {
  memset(ret, 0, VESTIBULE_ADDRESS_BYTES);
  if (peer->sa_family == AF_INET) {
    struct sockaddr_in in;
    memcpy(&in, peer, sizeof in);
    ret[10] = ret[11] = 0xff;
    memcpy(ret + 12, &in.sin_addr, 4);
    return;
  }
  if (peer->sa_family != AF_INET6) return;
  struct sockaddr_in6 in6;
  memcpy(&in6, peer, sizeof in6);
  /* One of four bytes within one of sixteen is itself; of others a site has a whole half. */
  size_t len = IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr) ? VESTIBULE_ADDRESS_BYTES : HALF_BYTES;
  memcpy(ret, &in6.sin6_addr, len);
}

/* How many come from where GUEST does. */
static unsigned count_same(const struct vestibule *vestibule, const struct vestibule_guest *guest) {
  unsigned same = 0;
  for (unsigned i = 0; i < vestibule->count; i++)
    same += memcmp(vestibule->guests[i].address, guest->address, sizeof guest->address) == 0;
  return same;
}

/* Whether GUEST's address has all of its places. */
static bool is_crowd(const struct vestibule *vestibule, const struct vestibule_guest *guest) {
  return vestibule->per_address != 0 && vestibule->count >= vestibule->per_address &&
         count_same(vestibule, guest) >= vestibule->per_address;
}

bool vestibule_is_full(const struct vestibule *vestibule) {
  return vestibule->count == VESTIBULE_PLACES;
}

bool vestibule_add(struct vestibule *vestibule, uint64_t id, const struct sockaddr *peer,
                   uint64_t now_ns) {
  struct vestibule_guest guest = {.id = id, .since_ns = now_ns};
  note_address(peer, guest.address);
  if (vestibule_is_full(vestibule) || is_crowd(vestibule, &guest)) return false;
  vestibule->guests[vestibule->count++] = guest;
  return true;
}

void vestibule_remove(struct vestibule *vestibule, uint64_t id) {
  for (unsigned i = 0; i < vestibule->count; i++) {
    struct vestibule_guest *guest = &vestibule->guests[i];
    if (guest->id != id) continue;
    vestibule->count--;
    memmove(guest, guest + 1, (vestibule->count - i) * sizeof *guest);
    return;
  }
}

unsigned vestibule_overdue(const struct vestibule *vestibule, uint64_t now_ns,
                           uint64_t ret[VESTIBULE_PLACES]) {
  unsigned count = 0;
  bool is_full = vestibule_is_full(vestibule);
  for (unsigned i = 0; i < vestibule->count; i++) {
    const struct vestibule_guest *guest = &vestibule->guests[i];
    if (now_ns - guest->since_ns < PATIENCE_NS) break; /* and so the next ones */
    if (is_full || is_crowd(vestibule, guest)) ret[count++] = guest->id;
  }
  return count;
}
