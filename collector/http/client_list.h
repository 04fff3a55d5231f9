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

/* Returns the number of connections from PEER's address, on any port. */
size_t client_list_count_peer(const struct client_list *list, const struct sockaddr *peer);

/* Returns the connection that has been idle longest, or NULL if none has been idle for 2 s. */
struct client *client_list_find_idle(const struct client_list *list);

/* Returns the connection that has waited longest for its peer, if that is 2 s or more. If there is
   none, as in a flood, returns the longest-waiting connection that is not being sent an answer. So
   a client that sends its request at once is safe from later connections. Failing that, returns any
   waiting one. NULL if none waits for its peer. */
struct client *client_list_find_slow(const struct client_list *list);

/* Returns the number of bytes of answers in memory that are not sent yet. */
size_t client_list_unsent_bytes(const struct client_list *list);

#endif
