/* SPDX-License-Identifier: Apache-2.0 */
/* From the spool to the collector over mutual TLS: connect, hello, send, await ack, back off with
   full jitter: a state machine on the worker's loop.  Also answers the collector's wish for debug
   files, within their daily budget. */
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

struct uplink_parts { /* borrowed, and outlive the uplink */
  struct event_base *loop;
  struct spool *spool;
  struct debug_sender *debug; /* or NULL: no debug files */
  struct known_time *time;    /* or NULL: nothing is known but the wall clock */
  struct boot_times *boots;   /* or NULL: is told the time, too */
  const char *address;        /* the collector's --agents HOST:PORT; NULL: only spool */
  const char *certificate_path, *key_path, *ca_path;
  uint64_t send_bytes;   /* of batches in a second at most; 0: no limit */
  const char *state_dir; /* where a renewed certificate is installed; NULL: none is asked for */
  void (*fill_hello)(void *context, struct hello *hello); /* what the board says of itself */
  void (*fill_ping)(void *context, struct ping *ping);
  void (*on_change)(void *context); /* an ack came, the state changed, a debug file ended */
  void *context;
};

int uplink_start(const struct uplink_parts *parts, struct uplink **ret);
void uplink_stop(struct uplink *uplink);

/* The spool has something new: send it now when connected. */
void uplink_kick(struct uplink *uplink);

struct uplink_figures {
  const char *state;    /* "connected", "connecting", "waiting", "off" */
  const char *why;      /* why it is not connected, in words: refused, unknown CA, expired, ... */
  const char *page_url; /* from Welcome, or "" */
  bool is_connected;    /* Welcome received */
  bool is_idle;         /* connected, spool empty, no debug file wanted or on its way */
  uint64_t acked_batches, sent_bytes, reconnects, renewals;
  uint64_t retry_in_ms;
  uint64_t server_walltime_ns; /* from the last Welcome or Pong, 0 before */
  /* The collector's time, as far as it is known in this boot, from a session or an earlier
     daemon's: what is to be added to this board's wall clock. */
  bool is_time_known;
  int64_t clock_offset_ns;
};
void uplink_figures(const struct uplink *uplink, struct uplink_figures *ret);

#endif
