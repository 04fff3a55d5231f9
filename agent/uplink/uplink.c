/* SPDX-License-Identifier: Apache-2.0 */
/* The connection of a session (uplink_session.h): when to connect, to which address, and why it
   failed.

      OFF          no collector is configured: batches stay in the spool
      WAITING      a retry is due later, or this board is not enrolled
      RESOLVING    a child process resolves the name
      CONNECTING   TCP and the TLS handshake
      GREETING     Hello is sent, Welcome is awaited
      CONNECTED    batches are sent

   Every state but OFF has a deadline.  Every failure leads to WAITING, with the reason as text, the
   connection freed, and the spool rewound; no data is ever dropped because of a connection.  The
   wait is from retry.c; an ack, or a session that lasted, resets it.

   Key, certificate and CA are read for each attempt, so enrolment and renewal need no restart.
   Output is kept short (OUT_HIGH_BYTES) and refilled from the spool when it drains: a slow link
   costs time, not memory. */
#include "uplink.h"
#include "boot_times.h"
#include "debug_sender.h"
#include "known_time.h"
#include "resolve.h"
#include "retry.h"
#include "uplink_line.h"
#include "uplink_session.h"

#include "common/buf.h"
#include "common/clock.h"
#include "common/log.h"
#include "spool/spool.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define RESOLVE_NS (15 * NS_PER_SECOND) /* the resolver's own deadline is earlier */
#define CONNECT_NS (15 * NS_PER_SECOND) /* TCP and TLS together */
#define GREET_NS (15 * NS_PER_SECOND)
#define ENROL_POLL_NS (2 * NS_PER_SECOND) /* one stat(2) each; enrolling shows soon */

enum {
  OUT_HIGH_BYTES = 64 << 10, /* no output is added above this */
};

enum state {
  STATE_OFF,
  STATE_WAITING,
  STATE_RESOLVING,
  STATE_CONNECTING,
  STATE_GREETING,
  STATE_CONNECTED
};

enum event_kind {
  EVENT_TIMER,    /* the state's deadline, or a session's timer */
  EVENT_RESOLVED, /* uplink->answer is filled in */
  EVENT_SECURE,   /* the TLS handshake is done */
  EVENT_BYTES,    /* input arrived */
  EVENT_ROOM,     /* output drained, or the spool has a new entry */
  EVENT_BROKEN,   /* the connection ended; uplink->broken has the reason */
};

struct uplink {
  struct uplink_parts parts;
  struct uplink_callbacks callbacks; /* step starts calls that call step: set in uplink_start, */
  resolve_on_done *on_resolved;      /* these break the cycle of functions */
  enum state state;
  struct event *timer;
  struct resolve *resolve;
  struct resolve_answer answer;
  struct bufferevent *line;
  struct uplink_session session;
  struct buf out; /* frames to be written to the connection */
  char why[UPLINK_WHY_BYTES], broken[UPLINK_WHY_BYTES];
  char page_url[LIMIT_VALUE_BYTES + 1];            /* outlives its session */
  uint64_t server_walltime_ns, server_boottime_ns; /* and the time of its arrival */
  uint64_t due_ns;                                 /* of the timer */
  uint64_t acked_batches, ended_bytes, welcomes, renewals;
  struct retry retry;
  unsigned calls; /* selects one of several addresses */
};

static const char not_enrolled[] =
    "not enrolled: run fleetprof enroll (fleetprof run --output FILE needs no collector)";

static const char *state_name(const struct uplink *uplink) {
  switch (uplink->state) {
  case STATE_OFF:
    return "off";
  case STATE_WAITING:
    return "waiting";
  case STATE_CONNECTED:
    return "connected";
  default:
    return "connecting";
  }
}

static void arm(struct uplink *uplink, uint64_t at_ns) {
  uint64_t now_ns = clock_monotonic_ns();
  uint64_t wait_us = at_ns > now_ns ? (at_ns - now_ns + 999) / 1000 : 0;
  struct timeval wait = {.tv_sec = (time_t)(wait_us / 1000000),
                         .tv_usec = (suseconds_t)(wait_us % 1000000)};
  uplink->due_ns = at_ns;
  event_add(uplink->timer, &wait);
}

/* The only function that changes the state; each state but OFF gets its deadline here. */
static void set_state(struct uplink *uplink, enum state state, uint64_t deadline_ns) {
  uplink->state = state;
  if (state == STATE_OFF)
    event_del(uplink->timer);
  else
    arm(uplink, deadline_ns);
  log_debug("uplink-state %s: %s: %s", uplink->parts.address ? uplink->parts.address : "-",
            state_name(uplink), uplink->why);
  uplink->parts.on_change(uplink->parts.context);
}

static void close_connection(struct uplink *uplink) {
  resolve_stop(uplink->resolve);
  uplink->resolve = NULL;
  if (uplink->line != NULL) {
    uplink->ended_bytes += uplink_line_sent_bytes(uplink->line);
    uplink->acked_batches += uplink->session.acked;
    bufferevent_free(uplink->line);
    uplink->line = NULL;
  }
  uplink_session_fini(&uplink->session);
  buf_clear(&uplink->out);
  spool_rewind(uplink->parts.spool);
  if (uplink->parts.debug != NULL) debug_sender_reset(uplink->parts.debug);
}

/* Ends the attempt or the connection because of WHY; tries again later. */
static void give_up(struct uplink *uplink, const char *why) {
  uint64_t now_ns = clock_monotonic_ns();
  if (uplink->session.acked > 0) retry_reset(&uplink->retry);
  retry_asked(&uplink->retry, uplink->session.come_after_ms);
  snprintf(uplink->why, sizeof uplink->why, "%s", why);
  close_connection(uplink);
  set_state(uplink, STATE_WAITING, now_ns + retry_next_ns(&uplink->retry, now_ns));
}

/* Ends the session and begins the next one, with the certificate that it got. */
static void begin_anew(struct uplink *uplink) {
  retry_reset(&uplink->retry);
  uplink->renewals++;
  snprintf(uplink->why, sizeof uplink->why, "the certificate was renewed");
  uplink_line_hang_up(uplink->line);
  close_connection(uplink);
  set_state(uplink, STATE_WAITING, clock_monotonic_ns());
}

static bool is_enrolled(const struct uplink_parts *parts) {
  return parts->certificate_path != NULL && parts->key_path != NULL && parts->ca_path != NULL &&
         (access(parts->certificate_path, F_OK) == 0 || errno != ENOENT);
}

/* --- From an address to a session --- */

static void call(struct uplink *uplink) {
  char why[UPLINK_WHY_BYTES];
  const struct sockaddr_storage *address =
      &uplink->answer.addresses[uplink->calls++ % uplink->answer.count];
  uplink->line = uplink_line_open(&uplink->parts, address, &uplink->callbacks, why);
  if (uplink->line == NULL)
    give_up(uplink, why);
  else
    set_state(uplink, STATE_CONNECTING, clock_monotonic_ns() + CONNECT_NS);
}

/* Begins an attempt. */
static void begin(struct uplink *uplink) {
  if (!is_enrolled(&uplink->parts)) {
    snprintf(uplink->why, sizeof uplink->why, "%s", not_enrolled);
    set_state(uplink, STATE_WAITING, clock_monotonic_ns() + ENROL_POLL_NS);
    return;
  }
  uplink->answer = (struct resolve_answer){.count = 1};
  int rc = resolve_numeric(uplink->parts.address, &uplink->answer.addresses[0]);
  if (rc == 0) {
    call(uplink);
    return;
  }
  if (rc == -ENOENT)
    rc = resolve_start(uplink->parts.loop, uplink->parts.address, uplink->on_resolved, uplink,
                       &uplink->resolve);
  if (rc == 0)
    set_state(uplink, STATE_RESOLVING, clock_monotonic_ns() + RESOLVE_NS);
  else
    give_up(uplink, rc == -EINVAL ? "the collector's address is not HOST:PORT" : strerror(-rc));
}

static void step_resolving(struct uplink *uplink, enum event_kind event) {
  char why[UPLINK_WHY_BYTES];
  int error = event == EVENT_TIMER ? -ETIMEDOUT : uplink->answer.error;
  resolve_stop(uplink->resolve);
  uplink->resolve = NULL;
  if (error == 0) {
    call(uplink);
    return;
  }
  snprintf(why, sizeof why, "the name in %.160s does not resolve: %s", uplink->parts.address,
           error == -ENOENT   ? "no such host"
           : error == -EAGAIN ? "the name server does not answer"
                              : strerror(-error));
  give_up(uplink, why);
}

/* --- In a session --- */

static void flush_out(struct uplink *uplink) {
  if (uplink->out.len > 0) bufferevent_write(uplink->line, uplink->out.data, uplink->out.len);
  if (uplink->out.cap > OUT_HIGH_BYTES) buf_fini(&uplink->out);
  buf_clear(&uplink->out);
}

static bool has_room(const struct uplink *uplink) {
  return evbuffer_get_length(bufferevent_get_output(uplink->line)) < OUT_HIGH_BYTES;
}

static bool is_drained(const struct uplink *uplink) {
  return evbuffer_get_length(bufferevent_get_output(uplink->line)) == 0;
}

static uint64_t session_due_ns(const struct uplink *uplink) {
  return uplink_session_due_ns(&uplink->session, has_room(uplink));
}

/* Sends data while there is room.  Returns false if the session is over. */
static bool pump(struct uplink *uplink) {
  uint64_t now_ns = clock_monotonic_ns();
  while (has_room(uplink)) {
    uplink->session.is_drained = is_drained(uplink);
    int rc = uplink_session_give(&uplink->session, now_ns, &uplink->out);
    if (rc < 0 && rc != -ENOENT) {
      give_up(uplink, strerror(-rc));
      return false;
    }
    flush_out(uplink);
    if (rc < 0) break;
  }
  uplink->session.is_drained = is_drained(uplink);
  return true;
}

/* Handles the frames that have arrived.  Returns false if the session is over. */
static bool take_frames(struct uplink *uplink) {
  struct evbuffer *input = bufferevent_get_input(uplink->line);
  char *why = uplink->session.why;
  for (size_t len; (len = evbuffer_get_length(input)) > 0;) {
    struct frame frame;
    long taken = frame_decode(span_of(evbuffer_pullup(input, -1), len), &frame);
    if (taken == -EAGAIN) return true;
    int rc = taken < 0 ? (int)taken : 0;
    if (rc < 0)
      snprintf(why, UPLINK_WHY_BYTES, "the collector sent a malformed frame");
    else
      rc = uplink_session_take(&uplink->session, &frame, clock_monotonic_ns(), &uplink->out);
    if (rc < 0) {
      log_warn("uplink-protocol %s: connection closed: %s", uplink->parts.address, why);
      give_up(uplink, why);
      return false;
    }
    evbuffer_drain(input, (size_t)taken);
    flush_out(uplink);
  }
  return true;
}

static void greet(struct uplink *uplink) {
  uint64_t now_ns = clock_monotonic_ns();
  int rc = uplink_session_begin(&uplink->session, &uplink->parts, now_ns, &uplink->out);
  if (rc < 0) {
    give_up(uplink, rc == -EOVERFLOW ? "Hello is over the limits" : strerror(-rc));
    return;
  }
  flush_out(uplink);
  set_state(uplink, STATE_GREETING, now_ns + GREET_NS);
}

static void learn_time(struct uplink *uplink) {
  uint64_t now_ns = uplink->session.server_walltime_ns;
  if (now_ns == uplink->server_walltime_ns) return;
  uplink->server_walltime_ns = now_ns;
  uplink->server_boottime_ns = clock_boottime_ns();
  if (uplink->parts.boots != NULL) boot_times_learn(uplink->parts.boots, now_ns);
  if (uplink->parts.time == NULL) return;
  known_time_learn(uplink->parts.time, now_ns, uplink_line_trusted_until_s(uplink->line));
}

/* Copies data that outlives the session, and reports changes. */
static void tell(struct uplink *uplink) {
  struct uplink_session *session = &uplink->session;
  if (session->server_walltime_ns != 0) learn_time(uplink);
  if (session->acked > 0) retry_reset(&uplink->retry);
  retry_told(&uplink->retry, session->return_within_ms);
  if (!session->has_news) return;
  session->has_news = false;
  uplink->parts.on_change(uplink->parts.context);
}

static void welcome(struct uplink *uplink) {
  snprintf(uplink->page_url, sizeof uplink->page_url, "%s", uplink->session.page_url);
  retry_welcome(&uplink->retry, clock_monotonic_ns(), uplink->session.return_within_ms);
  uplink->welcomes++;
  uplink->why[0] = '\0';
  set_state(uplink, STATE_CONNECTED, session_due_ns(uplink));
}

static void step_connected(struct uplink *uplink, enum event_kind event) {
  if (event == EVENT_BYTES && !take_frames(uplink)) return;
  if (event == EVENT_TIMER) {
    if (uplink_session_tick(&uplink->session, clock_monotonic_ns(), &uplink->out) < 0) {
      give_up(uplink, uplink->session.why);
      return;
    }
    flush_out(uplink);
  }
  if (!pump(uplink)) return;
  tell(uplink);
  if (uplink_session_is_outdated(&uplink->session)) {
    begin_anew(uplink);
    return;
  }
  uint64_t due_ns = session_due_ns(uplink);
  /* libevent's coarser clock may have fired the timer a little early: then it is due again. */
  if (event == EVENT_TIMER || due_ns != uplink->due_ns) arm(uplink, due_ns);
}

static void step_greeting(struct uplink *uplink, enum event_kind event) {
  if (event == EVENT_TIMER) give_up(uplink, "the collector did not answer Hello");
  if (event != EVENT_BYTES || !take_frames(uplink) || !uplink->session.is_welcome) return;
  welcome(uplink);
  step_connected(uplink, EVENT_ROOM);
}

static void step(struct uplink *uplink, enum event_kind event) {
  if (event == EVENT_BROKEN && uplink->line != NULL) {
    give_up(uplink, uplink->broken);
    return;
  }
  switch (uplink->state) {
  case STATE_OFF:
    break;
  case STATE_WAITING:
    if (event == EVENT_TIMER) begin(uplink);
    break;
  case STATE_RESOLVING:
    if (event == EVENT_TIMER || event == EVENT_RESOLVED) step_resolving(uplink, event);
    break;
  case STATE_CONNECTING:
    if (event == EVENT_SECURE)
      greet(uplink);
    else if (event == EVENT_TIMER)
      give_up(uplink, "no connection: the collector does not answer");
    break;
  case STATE_GREETING:
    step_greeting(uplink, event);
    break;
  case STATE_CONNECTED:
    step_connected(uplink, event);
    break;
  }
}

/* --- Events: translated to steps --- */

static void on_timer(evutil_socket_t fd, short what, void *context) {
  (void)fd, (void)what;
  step(context, EVENT_TIMER);
}

static void on_resolved(void *context, const struct resolve_answer *answer) {
  struct uplink *uplink = context;
  uplink->answer = *answer;
  step(uplink, EVENT_RESOLVED);
}

static void on_bytes(struct bufferevent *line, void *context) {
  (void)line;
  step(context, EVENT_BYTES);
}

static void on_room(struct bufferevent *line, void *context) {
  (void)line;
  step(context, EVENT_ROOM);
}

static void on_event(struct bufferevent *line, short what, void *context) {
  struct uplink *uplink = context;
  if ((what & BEV_EVENT_CONNECTED) != 0) {
    step(uplink, EVENT_SECURE);
    return;
  }
  uplink_line_explain(line, what, uplink->broken);
  step(uplink, EVENT_BROKEN);
}

/* --- Public functions --- */

int uplink_start(const struct uplink_parts *parts, struct uplink **ret) {
  struct uplink *uplink = calloc(1, sizeof *uplink);
  if (uplink == NULL) return -ENOMEM;
  uplink->parts = *parts;
  uplink->callbacks = (struct uplink_callbacks){on_bytes, on_room, on_event, uplink};
  uplink->on_resolved = on_resolved;
  uplink->timer = event_new(parts->loop, -1, 0, on_timer, uplink);
  if (uplink->timer == NULL) {
    free(uplink);
    return -ENOMEM;
  }
  signal(SIGPIPE, SIG_IGN); /* a closed peer becomes an error code and does not end the daemon */
  if (parts->address == NULL) {
    snprintf(uplink->why, sizeof uplink->why, "%s", not_enrolled);
  } else {
    uplink->state = STATE_WAITING;
    arm(uplink, clock_monotonic_ns());
  }
  *ret = uplink;
  return 0;
}

void uplink_stop(struct uplink *uplink) {
  if (uplink == NULL) return;
  if (uplink->line != NULL) uplink_line_hang_up(uplink->line);
  close_connection(uplink);
  event_free(uplink->timer);
  buf_fini(&uplink->out);
  free(uplink);
}

void uplink_kick(struct uplink *uplink) {
  if (uplink->state == STATE_CONNECTED) step(uplink, EVENT_ROOM);
}

/* The collector's time, or 0.  The last report of a session is exact; boot_times has seconds. */
static uint64_t collector_now_ns(const struct uplink *uplink) {
  if (uplink->server_walltime_ns != 0)
    return uplink->server_walltime_ns + (clock_boottime_ns() - uplink->server_boottime_ns);
  return uplink->parts.boots != NULL ? boot_times_now_ns(uplink->parts.boots) : 0;
}

void uplink_figures(const struct uplink *uplink, struct uplink_figures *ret) {
  struct spool_figures spool;
  spool_figures(uplink->parts.spool, &spool);
  uint64_t now_ns = clock_monotonic_ns();
  bool is_waiting = uplink->state == STATE_WAITING && uplink->due_ns > now_ns;
  bool is_connected = uplink->state == STATE_CONNECTED;
  *ret = (struct uplink_figures){
      .state = state_name(uplink),
      .why = uplink->why,
      .page_url = uplink->page_url,
      .is_connected = is_connected,
      .is_idle = is_connected && spool.entries == 0 && uplink_session_is_idle(&uplink->session),
      .acked_batches = uplink->acked_batches + uplink->session.acked,
      .sent_bytes = uplink->ended_bytes + uplink_line_sent_bytes(uplink->line),
      .renewals = uplink->renewals,
      .reconnects = uplink->welcomes > 0 ? uplink->welcomes - 1 : 0,
      .retry_in_ms = is_waiting ? (uplink->due_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS : 0,
      .server_walltime_ns = uplink->server_walltime_ns,
  };
  uint64_t now_walltime_ns = collector_now_ns(uplink);
  ret->is_time_known = now_walltime_ns != 0;
  if (ret->is_time_known) ret->clock_offset_ns = (int64_t)(now_walltime_ns - clock_walltime_ns());
}
