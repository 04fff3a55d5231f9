/* SPDX-License-Identifier: Apache-2.0 */
/* Handles a connection's requests. CONTEXT is the struct service; the first four functions are a
   client_owner's callbacks. Loop only. */
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

/* Abandons CLIENT's request. If a worker runs it, the worker's result is discarded. */
void reception_forsake(struct client *client);

#endif
