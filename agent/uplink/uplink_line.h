/* SPDX-License-Identifier: Apache-2.0 */
/* A TLS connection to a collector on the loop: opens it, explains its failure, and counts its
   bytes. */
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

/* Starts to connect to ADDRESS with the certificate of PARTS, which is read again.  CALLBACKS are
   called from the loop, never from this function.  Returns the connection, to be freed with
   bufferevent_free, or NULL with the reason in WHY.  Loop only. */
struct bufferevent *uplink_line_open(const struct uplink_parts *parts,
                                     const struct sockaddr_storage *address,
                                     const struct uplink_callbacks *callbacks,
                                     char why[UPLINK_WHY_BYTES]);

/* Writes why LINE broke, as text.  WHAT is on_event's argument.  Call it from on_event: the error
   number is still in errno. */
void uplink_line_explain(struct bufferevent *line, short what, char why[UPLINK_WHY_BYTES]);

/* Bytes written to the wire, TLS included; 0 for NULL. */
uint64_t uplink_line_sent_bytes(struct bufferevent *line);

/* The end of the collector's certificate, in seconds since 1970; 0 if unknown. */
int64_t uplink_line_trusted_until_s(struct bufferevent *line);

/* Sends a TLS close notification, so that the collector need not wait; frees nothing. */
void uplink_line_hang_up(struct bufferevent *line);

#endif
