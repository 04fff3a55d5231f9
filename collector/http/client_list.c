/* SPDX-License-Identifier: Apache-2.0 */
/* With a few hundred connections at most, a walk costs less than maintaining sums: it is needed
   once per new connection or answer. */
#include "client_list.h"

#include "client.h"
#include "common/clock.h"

#include <netinet/in.h>
#include <string.h>

#define PATIENCE_NS (2 * NS_PER_SECOND) /* a head arrives within one or two round trips */

void client_list_add(struct client_list *list, struct client *client) {
  struct client_links *links = client_links(client);
  *links = (struct client_links){.next = list->first};
  if (list->first) client_links(list->first)->previous = client;
  list->first = client;
  list->count++;
}

void client_list_remove(struct client_list *list, struct client *client) {
  struct client_links *links = client_links(client);
  if (links->next) client_links(links->next)->previous = links->previous;
  if (links->previous)
    client_links(links->previous)->next = links->next;
  else
    list->first = links->next;
  list->count--;
}

static bool is_same_host(const struct sockaddr *a, const struct sockaddr *b) {
  if (a->sa_family != b->sa_family) return false;
  if (a->sa_family == AF_INET)
    return ((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr ==
           ((const struct sockaddr_in *)(const void *)b)->sin_addr.s_addr;
  return memcmp(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr,
                &((const struct sockaddr_in6 *)(const void *)b)->sin6_addr,
                sizeof(struct in6_addr)) == 0;
}

size_t client_list_count_peer(const struct client_list *list, const struct sockaddr *peer) {
  size_t count = 0;
  for (struct client *at = list->first; at; at = client_links(at)->next)
    if (is_same_host(client_peer(at), peer)) count++;
  return count;
}

struct client *client_list_find_idle(const struct client_list *list) {
  struct client *oldest = NULL;
  uint64_t now_ns = clock_monotonic_ns();
  for (struct client *at = list->first; at; at = client_links(at)->next)
    if (client_is_idle(at) && client_waiting_ns(at, now_ns) >= PATIENCE_NS) oldest = at;
  return oldest;
}

/* Returns A or B (NULL: none), whichever has waited longer for its peer. */
static struct client *longer(struct client *a, struct client *b, uint64_t now_ns) {
  if (a == NULL || b == NULL) return a != NULL ? a : b;
  return client_waiting_ns(a, now_ns) >= client_waiting_ns(b, now_ns) ? a : b;
}

struct client *client_list_find_slow(const struct client_list *list) {
  struct client *slow = NULL, *asking = NULL, *any = NULL;
  uint64_t now_ns = clock_monotonic_ns();
  for (struct client *at = list->first; at; at = client_links(at)->next) {
    uint64_t waiting_ns = client_waiting_ns(at, now_ns);
    if (waiting_ns == 0) continue;
    any = longer(any, at, now_ns);
    if (waiting_ns >= PATIENCE_NS) slow = longer(slow, at, now_ns);
    if (!client_is_answered(at)) asking = longer(asking, at, now_ns);
  }
  if (slow != NULL) return slow;
  return asking != NULL ? asking : any;
}

size_t client_list_unsent_bytes(const struct client_list *list) {
  size_t bytes = 0;
  for (struct client *at = list->first; at; at = client_links(at)->next)
    bytes += client_unsent_bytes(at);
  return bytes;
}
