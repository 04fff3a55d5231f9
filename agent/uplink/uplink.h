/* SPDX-License-Identifier: Apache-2.0 */
/* Sends the spool to the collector over mutual TLS: connect, hello, send, await ack, back-off with
   full jitter.  It is a state machine on the worker's loop.  It also serves the collector's
   requests for debug files, within their daily budget. */
#ifndef UPLINK_UPLINK_H
#define UPLINK_UPLINK_H

#include "proto/messages.h"

#include <stdbool.h>
#include <stdint.h>

struct boot_times;
struct debug_sender;
struct event_base;
struct known_time;
struct spool;
struct uplink;

struct uplink_parts { /* borrowed; must outlive the uplink */
  struct event_base *loop;
  struct spool *spool;
  struct debug_sender *debug; /* or NULL: no debug files */
  struct known_time *time;    /* or NULL: only the wall clock is used */
  struct boot_times *boots;   /* or NULL: also gets the time */
  const char *address;        /* the collector's --agents HOST:PORT; NULL: only spool */
  const char *certificate_path, *key_path, *ca_path;
  uint64_t send_bytes;   /* batch bytes per second at most; 0: no limit */
  const char *state_dir; /* where a renewed certificate is installed; NULL: no renewal */
  void (*fill_hello)(void *context, struct hello *hello); /* fills in the board's data */
  void (*fill_ping)(void *context, struct ping *ping);
  void (*on_change)(void *context); /* an ack arrived, the state changed, or a debug file ended */
  void *context;
};

int uplink_start(const struct uplink_parts *parts, struct uplink **ret);
void uplink_stop(struct uplink *uplink);

/* The spool has a new entry: sends it now if connected. */
void uplink_kick(struct uplink *uplink);

struct uplink_figures {
  const char *state;    /* "connected", "connecting", "waiting", "off" */
  const char *why;      /* why it is not connected, as text: rejected, unknown CA, expired, ... */
  const char *page_url; /* from Welcome, or "" */
  bool is_connected;    /* Welcome received */
  bool is_idle;         /* connected, spool empty, no debug file requested or in transit */
  uint64_t acked_batches, sent_bytes, reconnects, renewals;
  uint64_t retry_in_ms;
  uint64_t server_walltime_ns; /* from the last Welcome or Pong; 0: none */
  /* The collector's time, if it is known in this boot, from a session or an earlier daemon: the
     offset to add to this board's wall clock. */
  bool is_time_known;
  int64_t clock_offset_ns;
};
void uplink_figures(const struct uplink *uplink, struct uplink_figures *ret);

#endif
