/* SPDX-License-Identifier: Apache-2.0 */
/* One session with a collector, from Hello to the end: unacknowledged batches, requested files, and
   timers.  It handles frames, spool and debug files, but no sockets, TLS or event loop. */
#ifndef UPLINK_UPLINK_SESSION_H
#define UPLINK_UPLINK_SESSION_H

#include "uplink.h"

#include "proto/limits.h"
#include "proto/prefix.h"
#include "renewal.h"

struct buf;

enum { UPLINK_WHY_BYTES = 256 };

struct uplink_flight {
  uint64_t run, seq, sent_ns;
};

struct uplink_wish { /* a requested debug file that has not ended */
  uint8_t id[LIMIT_MODULE_ID_BYTES];
  uint8_t id_len;
};

struct uplink_session {
  const struct uplink_parts *parts; /* borrowed */
  struct uplink_flight flights[LIMIT_IN_FLIGHT];
  struct uplink_wish wishes[LIMIT_DEBUG_WANTED];
  unsigned flight_count, wish_count;
  uint32_t prefix_bytes_max; /* the collector keeps this much of a batch for deltas; 0: none */
  struct prefix prefix;      /* the last batch that was sent while no other was unacknowledged */
  bool is_welcome;
  bool has_news;       /* a change for on_change; the uplink clears it */
  bool is_over_budget; /* requests wait for another day's budget */
  bool is_drained;     /* all output has been written; the uplink updates this */
  uint64_t heard_ns;   /* time of the last frame */
  uint64_t asked_ns;   /* when a frame that needs an answer was sent, with no answer since; or 0 */
  uint64_t told_ns;    /* when counters were last sent, with a batch or a ping */
  uint64_t pinged_ns;  /* time of the last ping */
  uint64_t ping_due_ns;
  uint64_t paced_until_ns; /* rate limit: no batch is sent before */
  struct counters told;    /* in the last ping */
  bool is_told_settled;
  bool is_paced;             /* a batch waits for that */
  uint64_t held_until_ns;    /* 0, or the end of a pause that the collector requested */
  uint32_t return_within_ms; /* the collector's reconnect window; 0: none */
  uint32_t come_after_ms;    /* the collector rejected this board, with this wait */
  uint64_t debug_due_ns;     /* when to call the debug sender again; UINT64_MAX: never */
  uint64_t debug_moved_ns;   /* the last piece sent, or request begun or ended */
  uint64_t acked;            /* batches in this session */
  uint64_t server_walltime_ns;
  bool is_renew_only;    /* the certificate has expired: only renewal is accepted */
  bool is_renewing;      /* Renew was sent */
  bool is_renewed;       /* the new certificate is installed: this session ends */
  uint64_t renew_due_ns; /* UINT64_MAX: never in this session */
  EVP_PKEY *renew_key;   /* of the pending request */
  char page_url[LIMIT_VALUE_BYTES + 1];
  char why[UPLINK_WHY_BYTES]; /* why the session is over, after take or tick failed */
};

/* Begins a session and appends its Hello to RET_OUT.  Returns 0 or -errno. */
int uplink_session_begin(struct uplink_session *session, const struct uplink_parts *parts,
                         uint64_t now_ns, struct buf *ret_out);

/* Frees the session's resources. */
void uplink_session_fini(struct uplink_session *session);

/* True if the session should be replaced by one with the new certificate: nothing is pending any
   more. */
bool uplink_session_is_outdated(const struct uplink_session *session);

/* Handles one frame; answers are appended to RET_OUT.  Returns 0, or -EPROTO, -EBADMSG, -EOVERFLOW,
   -EACCES or -ENOMEM with session->why: the session is over. */
int uplink_session_take(struct uplink_session *session, const struct frame *frame, uint64_t now_ns,
                        struct buf *ret_out);

/* Appends at most one frame: a batch, or else, if the line is drained, a piece of a debug file.
   Returns 0, -ENOENT if there is nothing to send now, or -errno: the session is over. */
int uplink_session_give(struct uplink_session *session, uint64_t now_ns, struct buf *ret_out);

/* Runs due timers: pings, the end of a pause.  Returns 0, or -ETIMEDOUT or -ENOMEM with
   session->why: the session is over. */
int uplink_session_tick(struct uplink_session *session, uint64_t now_ns, struct buf *ret_out);

/* When tick or give should be called next, in monotonic time.  Without HAS_ROOM, give's time is
   ignored: it may be due already, and only room matters. */
uint64_t uplink_session_due_ns(const struct uplink_session *session, bool has_room);

/* True if nothing is pending or requested (the uplink checks the spool). */
bool uplink_session_is_idle(const struct uplink_session *session);

#endif
