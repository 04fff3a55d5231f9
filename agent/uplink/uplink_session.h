/* SPDX-License-Identifier: Apache-2.0 */
/* One conversation with a collector, from Hello to the end: which batches are on their way, what
   it wants, what is due when.  Knows frames, spool and debug files; nothing of sockets, TLS or
   timers. */
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

struct uplink_wish { /* a debug file that was asked for and is not ended */
  uint8_t id[LIMIT_MODULE_ID_BYTES];
  uint8_t id_len;
};

struct uplink_session {
  const struct uplink_parts *parts; /* borrowed */
  struct uplink_flight flights[LIMIT_IN_FLIGHT];
  struct uplink_wish wishes[LIMIT_DEBUG_WANTED];
  unsigned flight_count, wish_count;
  uint32_t prefix_bytes_max; /* the collector keeps as much of a batch for the next; 0: nothing */
  struct prefix prefix;      /* the last batch that was sent while no other was on its way */
  bool is_welcome;
  bool has_news;       /* something that on_change is for; the uplink clears it */
  bool is_over_budget; /* the wishes wait for another day */
  bool is_drained;     /* all that was given is on its way; the uplink keeps this up to date */
  uint64_t heard_ns;   /* the last frame came */
  uint64_t asked_ns;   /* what has to be answered at once was sent, and nothing came since; or 0 */
  uint64_t told_ns;    /* the books went out, with a batch or a ping */
  uint64_t pinged_ns;  /* the last ping */
  uint64_t ping_due_ns;
  uint64_t paced_until_ns; /* by the rate, no batch is sent before */
  struct counters told;    /* with the last ping */
  bool is_told_settled;
  bool is_paced;             /* one waits for that */
  uint64_t held_until_ns;    /* 0, or the collector asked for patience until then */
  uint32_t return_within_ms; /* what it said of coming back; 0: nothing */
  uint32_t come_after_ms;    /* it refused this board, and asked to come no earlier */
  uint64_t debug_due_ns;     /* when to ask the debug sender again; UINT64_MAX: never */
  uint64_t debug_moved_ns;   /* the last piece sent, wish heard or ended */
  uint64_t acked;            /* batches, in this session */
  uint64_t server_walltime_ns;
  bool is_renew_only;    /* the certificate has expired: nothing but renewal is taken */
  bool is_renewing;      /* Renew is on its way */
  bool is_renewed;       /* the new certificate is installed: this session only ends */
  uint64_t renew_due_ns; /* UINT64_MAX: never in this session */
  EVP_PKEY *renew_key;   /* of the request on its way */
  char page_url[LIMIT_VALUE_BYTES + 1];
  char why[UPLINK_WHY_BYTES]; /* it is over, after take or tick failed */
};

/* Begins a session and appends its Hello to RET_OUT.  Returns 0 or -errno. */
int uplink_session_begin(struct uplink_session *session, const struct uplink_parts *parts,
                         uint64_t now_ns, struct buf *ret_out);

/* Frees what it holds. */
void uplink_session_fini(struct uplink_session *session);

/* True when the session should be ended and begun anew with the certificate that it got: nothing of
   it is on its way any more. */
bool uplink_session_is_outdated(const struct uplink_session *session);

/* Takes one frame; answers are appended to RET_OUT.  Returns 0, or -EPROTO, -EBADMSG, -EOVERFLOW
   or -ENOMEM with session->why: the session is over. */
int uplink_session_take(struct uplink_session *session, const struct frame *frame, uint64_t now_ns,
                        struct buf *ret_out);

/* Appends at most one frame of what there is to send: a batch, else, on a line that is drained, a
   piece of a debug file.
   Returns 0, -ENOENT when there is nothing now, or -errno: the session is over. */
int uplink_session_give(struct uplink_session *session, uint64_t now_ns, struct buf *ret_out);

/* Does what is due: pings, the end of a pause.  Returns 0, or -ETIMEDOUT or -ENOMEM with
   session->why: the session is over. */
int uplink_session_tick(struct uplink_session *session, uint64_t now_ns, struct buf *ret_out);

/* When tick or give should be called next, in monotonic time.  Without HAS_ROOM for what give would
   append that does not count: it may be due already, and only room makes a difference. */
uint64_t uplink_session_due_ns(const struct uplink_session *session, bool has_room);

/* True when nothing is on its way or wanted (the spool is the uplink's to ask). */
bool uplink_session_is_idle(const struct uplink_session *session);

#endif
