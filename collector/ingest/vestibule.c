/* SPDX-License-Identifier: Apache-2.0 */
/* Limits unauthenticated connections, so that half-open ones cannot keep boards out.

   Places are few (a handshake under way takes some 60 KiB), and when all are taken no connection is
   accepted: further ones wait in the kernel's queue. A peer that begins handshakes and does not
   finish them could hold all places for the ten seconds of their deadline, again and again. Two
   limits prevent that. First, one address has a limited number of places. Second, when no place is
   left, in total or for an address (which may be a whole site), connections older than PATIENCE_NS
   are evicted. A handshake takes two round trips and a millisecond: only a board on a very slow
   link has to connect again.

   There are at most 1024 entries, in order of arrival. Finding one walks at most 32 KiB, little
   beside the millisecond of its handshake. The whole list is checked twice a second; addresses are
   counted by sorting them then. */
#include "vestibule.h"

#include "common/clock.h"

#include <netinet/in.h>
#include <stdlib.h>
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
  /* An IPv4-mapped address counts whole; of other IPv6 addresses, one site has all with the same
     first half. */
  size_t len = IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr) ? VESTIBULE_ADDRESS_BYTES : HALF_BYTES;
  memcpy(ret, &in6.sin6_addr, len);
}

/* Returns the number of entries with GUEST's address. */
static unsigned count_same(const struct vestibule *vestibule, const struct vestibule_guest *guest) {
  unsigned same = 0;
  for (unsigned i = 0; i < vestibule->count; i++)
    same += memcmp(vestibule->guests[i].address, guest->address, sizeof guest->address) == 0;
  return same;
}

/* Returns whether GUEST's address has used up its places. */
static bool is_at_limit(const struct vestibule *vestibule, const struct vestibule_guest *guest) {
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
  if (vestibule_is_full(vestibule) || is_at_limit(vestibule, &guest)) return false;
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

static int by_address(const void *left, const void *right) {
  const struct vestibule_guest *const *a = left, *const *b = right;
  return memcmp((*a)->address, (*b)->address, sizeof(*a)->address);
}

/* Sets RET for each entry whose address has used up its places. */
static void find_at_limit(const struct vestibule *vestibule, bool ret[VESTIBULE_PLACES]) {
  const struct vestibule_guest *sorted[VESTIBULE_PLACES];
  unsigned count = vestibule->count;
  memset(ret, 0, VESTIBULE_PLACES * sizeof *ret);
  if (vestibule->per_address == 0 || count < vestibule->per_address) return;
  for (unsigned i = 0; i < count; i++) sorted[i] = &vestibule->guests[i];
  qsort(sorted, count, sizeof *sorted, by_address);
  for (unsigned first = 0, end = 0; first < count; first = end) {
    for (end = first; end < count && by_address(&sorted[first], &sorted[end]) == 0;) end++;
    for (unsigned i = first; i < end; i++)
      ret[sorted[i] - vestibule->guests] = end - first >= vestibule->per_address;
  }
}

unsigned vestibule_overdue(const struct vestibule *vestibule, uint64_t now_ns,
                           uint64_t ret[VESTIBULE_PLACES]) {
  unsigned count = 0;
  bool is_full = vestibule_is_full(vestibule), are_at_limit[VESTIBULE_PLACES];
  if (vestibule->count == 0 || now_ns - vestibule->guests[0].since_ns < PATIENCE_NS) return 0;
  find_at_limit(vestibule, are_at_limit);
  for (unsigned i = 0; i < vestibule->count; i++) {
    const struct vestibule_guest *guest = &vestibule->guests[i];
    if (now_ns - guest->since_ns < PATIENCE_NS) break; /* later entries are younger */
    if (is_full || are_at_limit[i]) ret[count++] = guest->id;
  }
  return count;
}
