/* SPDX-License-Identifier: Apache-2.0 */
/* The open connections, newest first.  Loop only. */
#ifndef HTTP_CLIENT_LIST_H
#define HTTP_CLIENT_LIST_H

#include <stddef.h>

struct client;
struct sockaddr;

struct client_list { /* all-zero is a valid empty list */
  struct client *first;
  size_t count;
};

void client_list_add(struct client_list *list, struct client *client);
void client_list_remove(struct client_list *list, struct client *client);

/* Returns how many come from PEER's address, whatever the port. */
size_t client_list_count_peer(const struct client_list *list, const struct sockaddr *peer);

/* Returns the one that has waited longest for its next request, or NULL: none has for so long that
   a head should have come. */
struct client *client_list_find_idle(const struct client_list *list);

/* Returns the connection that has waited for its peer the longest, when that is longer than others
   should wait for its place.  Where none has, as in a flood, the longest there of those that are
   not being answered: who sends a request at once is safe from the next ones.  Then any other.
   NULL: all are being served. */
struct client *client_list_find_slow(const struct client_list *list);

/* Returns how many bytes of answers wait for their peers. */
size_t client_list_unsent_bytes(const struct client_list *list);

#endif
