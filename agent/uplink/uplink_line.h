/* SPDX-License-Identifier: Apache-2.0 */
/* A TLS connection to a collector on the loop: made, explained, measured. */
#ifndef UPLINK_UPLINK_LINE_H
#define UPLINK_UPLINK_LINE_H

#include "uplink_session.h"

#include <event2/bufferevent.h>

struct sockaddr_storage;

struct uplink_callbacks {
  bufferevent_data_cb on_bytes, on_room;
  bufferevent_event_cb on_event;
  void *context;
};

/* Begins to connect to ADDRESS with the certificate of PARTS, read anew; CALLBACKS are called from
   the loop, never from here.  Returns the connection, to be freed with bufferevent_free, or NULL
   with the reason in WHY.  Loop only. */
struct bufferevent *uplink_line_open(const struct uplink_parts *parts,
                                     const struct sockaddr_storage *address,
                                     const struct uplink_callbacks *callbacks,
                                     char why[UPLINK_WHY_BYTES]);

/* Writes why LINE broke, in words; WHAT is what on_event was told.  To be called from there: the
   error number is still in errno. */
void uplink_line_explain(struct bufferevent *line, short what, char why[UPLINK_WHY_BYTES]);

/* Bytes written to the wire, TLS included; 0 for NULL. */
uint64_t uplink_line_sent_bytes(struct bufferevent *line);

/* When the collector's certificate ends, in seconds since 1970; 0 when that cannot be said. */
int64_t uplink_line_trusted_until_s(struct bufferevent *line);

/* Says farewell, so that the collector need not wait for us; frees nothing. */
void uplink_line_hang_up(struct bufferevent *line);

#endif
