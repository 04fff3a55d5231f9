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

/* Returns the connection that has waited for its peer the longest, or NULL: all are being served.
   However short that is: in a flood nobody has been there for long, and who sends a head at once
   is safe from the next ones, while who is turned away at the door has no chance at all. */
struct client *client_list_find_slow(const struct client_list *list);

/* Returns how many bytes of answers wait for their peers. */
size_t client_list_unsent_bytes(const struct client_list *list);

#endif
