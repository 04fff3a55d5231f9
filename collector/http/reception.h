/* SPDX-License-Identifier: Apache-2.0 */
/* What a connection's requests come to.  CONTEXT is the struct service; the first four are what a
   client_owner needs.  Loop only. */
#ifndef HTTP_RECEPTION_H
#define HTTP_RECEPTION_H

#include "request.h"

struct evbuffer;
struct head_fault;
struct http_head;

void reception_head(void *context, struct client *client, const struct http_head *head);
void reception_piece(void *context, struct client *client, struct evbuffer *bytes, size_t len);
void reception_fault(void *context, struct client *client, const struct head_fault *fault);
void reception_late(void *context, struct client *client);

/* Nobody waits for CLIENT's request any more; one that a worker has is left to it. */
void reception_forsake(struct client *client);

#endif
