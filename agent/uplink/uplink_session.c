/* SPDX-License-Identifier: Apache-2.0 */
/* The board's side of the protocol.

   At most LIMIT_IN_FLIGHT batches are unacknowledged; each ends by its ack or its reject.  A reject
   that is not permanent requests a pause: no new batch is sent until the pause is over and all
   pending batches are answered.  Then the spool is rewound and unacknowledged batches are sent
   again.

   A collector requests debug files before it acks the batch that needs them.  So "nothing
   unacknowledged, nothing requested" means that it can name all that it has: the uplink's is_idle
   relies on that.  A request ends by a DebugEnd of either side.  If everything was sent and no end
   arrives, the request is dropped after a while.  A program that waits for is_idle must not depend
   on a collector's bug.

   A piece of a file is sent only when all earlier output has left.  So on a slow line a batch, or a
   keep-alive ping, waits for one piece and not for a full socket buffer.

   A certificate is renewed within a session (renewal.c).  Once the new one is installed, nothing
   more is sent.  When all pending frames are answered, the uplink begins a session with it, which
   also invalidates the old certificate at the collector.  A session with an expired certificate
   permits only renewal.

   A ping reports that the board is alive, and its counters.  A batch reports both, so no ping is
   due for PING_NS after one.  While nothing changes, one ping per IDLE_PING_NS is enough: an idle
   board may pay for its line by the hour.

   Silence is bounded twice.  No frame for SILENCE_NS after a ping means a dead peer or link,
   because pings are answered.  No answer to a batch for ANSWER_NS means that the peer's store
   hangs; a new connection may reach another one.

   A backlog of weeks is sent at the board's send rate at most, with bursts of one second: others
   use the link, and the collector serves other boards. */
#include "uplink_session.h"
#include "debug_sender.h"

#include "common/arena.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/log.h"
#include "referral.h"
#include "retry.h"
#include "spool/spool.h"

#include <errno.h>
#include <stdio.h>

#define PING_NS (15 * NS_PER_SECOND)
#define IDLE_PING_NS (60 * NS_PER_SECOND) /* routers forget a connection after over two minutes */
#define SILENCE_NS (30 * NS_PER_SECOND)   /* after a ping */
#define ANSWER_NS (120 * NS_PER_SECOND)
#define BUDGET_RETRY_NS (60 * NS_PER_SECOND)
#define CHILD_RETRY_NS (20 * NS_PER_MS) /* until children are polled again for search results */
#define WISH_FORGET_NS (30 * NS_PER_SECOND)
#define RENEW_RETRY_NS (600 * NS_PER_SECOND) /* after a rejection, or no answer */

enum {
  DECODE_BYTES = 4 * LIMIT_CONTROL_BYTES,    /* unpacked size limit of a control frame */
  PIECE_BYTES = 2 * LIMIT_DEBUG_CHUNK_BYTES, /* a piece of a debug file, packed and unpacked */
};

static int put(const struct message *message, struct buf *ret_out) {
  int rc = message_encode(message, ret_out);
  return rc == 0 && ret_out->failed ? -ENOMEM : rc;
}

int uplink_session_begin(struct uplink_session *session, const struct uplink_parts *parts,
                         uint64_t now_ns, struct buf *ret_out) {
  *session = (struct uplink_session){
      .parts = parts,
      .heard_ns = now_ns,
      .asked_ns = now_ns,
      .told_ns = now_ns,
      .pinged_ns = now_ns,
      .ping_due_ns = now_ns + PING_NS,
      .debug_due_ns = UINT64_MAX,
      .renew_due_ns = UINT64_MAX,
  };
  struct message message = {.type = FRAME_HELLO};
  parts->fill_hello(parts->context, &message.hello);
  message.hello.version = LIMIT_PROTOCOL_VERSION;
  message.hello.capabilities =
      CAPABILITY_PREFIX | (parts->state_dir != NULL ? CAPABILITY_RENEWAL : 0);
  return put(&message, ret_out);
}

/* --- Batches --- */

static bool end_flight(struct uplink_session *session, uint64_t run, uint64_t seq) {
  for (unsigned i = 0; i < session->flight_count; i++) {
    struct uplink_flight *flight = &session->flights[i];
    if (flight->run != run || flight->seq != seq) continue;
    session->flight_count--;
    memmove(flight, flight + 1, (session->flight_count - i) * sizeof *flight);
    return true;
  }
  return false;
}

static void take_ack(struct uplink_session *session, const struct ack *ack) {
  spool_ack(session->parts->spool, ack->run, ack->seq);
  if (end_flight(session, ack->run, ack->seq)) session->acked++;
  session->has_news = true;
}

static void take_reject(struct uplink_session *session, const struct reject *reject,
                        uint64_t now_ns) {
  if (!end_flight(session, reject->run, reject->seq)) return; /* it was not sent here */
  prefix_forget(&session->prefix);
  session->has_news = true;
  if (reject->permanent) {
    enum loss_reason loss = reject->over_quota ? LOSS_QUOTA : LOSS_REJECTED;
    spool_reject(session->parts->spool,
                 &(struct spool_refusal){reject->run, reject->seq, loss, reject->reason});
    return;
  }
  uint64_t pause_ns = retry_pause_ns(reject->retry_after_ms);
  if (now_ns + pause_ns > session->held_until_ns) session->held_until_ns = now_ns + pause_ns;
}

/* Accounts for LEN bytes of batches; unused rate beyond one second is lost. */
static void pace(struct uplink_session *session, uint64_t now_ns, size_t len) {
  uint64_t rate = session->parts->send_bytes, from_ns = session->paced_until_ns;
  if (rate == 0) return;
  uint64_t spare_ns = now_ns > NS_PER_SECOND ? now_ns - NS_PER_SECOND : 0;
  if (from_ns < spare_ns) from_ns = spare_ns;
  session->paced_until_ns = from_ns + len * NS_PER_SECOND / rate;
}

static int give_batch(struct uplink_session *session, uint64_t now_ns, struct buf *ret_out) {
  if (session->flight_count == LIMIT_IN_FLIGHT || session->held_until_ns != 0) return -ENOENT;
  session->is_paced = now_ns < session->paced_until_ns;
  if (session->is_paced) return -ENOENT;
  struct spool_item item;
  int rc = spool_next(session->parts->spool, &item);
  if (rc < 0) return rc;
  struct message message = {.type = FRAME_BATCH};
  message.batch = (struct envelope){
      .run = item.run,
      .seq = item.seq,
      .records = item.records,
      .raw_len = item.raw_len,
      .zstd = item.zstd,
  };
  struct buf shorter = {0};
  if (session->flight_count == 0) /* the last batch sent is the last acked, for both sides */
    referral_make(&session->prefix, session->prefix_bytes_max, &message.batch, &shorter);
  else
    prefix_forget(&session->prefix);
  rc = put(&message, ret_out);
  size_t sent_bytes = message.batch.zstd.len;
  buf_fini(&shorter);
  if (rc == 0) {
    session->flights[session->flight_count++] = (struct uplink_flight){item.run, item.seq, now_ns};
    session->told_ns = now_ns;
    pace(session, now_ns, sent_bytes);
  }
  if (rc != -EOVERFLOW) return rc;
  spool_reject(session->parts->spool, &(struct spool_refusal){item.run, item.seq, LOSS_REJECTED,
                                                              "it is over the limits of a frame"});
  session->has_news = true;
  return 0;
}

/* --- Debug files --- */

static struct uplink_wish *find_wish(struct uplink_session *session, struct span id) {
  for (unsigned i = 0; i < session->wish_count; i++) {
    struct uplink_wish *wish = &session->wishes[i];
    if (span_is_equal(span_of(wish->id, wish->id_len), id)) return wish;
  }
  return NULL;
}

static void end_wish(struct uplink_session *session, struct span id) {
  struct uplink_wish *wish = find_wish(session, id);
  if (wish == NULL) return;
  *wish = session->wishes[--session->wish_count];
  session->has_news = true;
}

static int refuse_wish(struct span id, const char *reason, struct buf *ret_out) {
  struct message message = {.type = FRAME_DEBUG_END};
  message.debug_end = (struct debug_end){.id = id, .reason = reason};
  return put(&message, ret_out);
}

static int take_wish(struct uplink_session *session, const struct debug_wanted *wanted,
                     uint64_t now_ns, struct buf *ret_out) {
  char why[LIMIT_VALUE_BYTES] = "this board sends no debug files";
  struct uplink_wish *wish = find_wish(session, wanted->id);
  if (wanted->id.len > sizeof wish->id)
    return refuse_wish(wanted->id, "its id is over the limit (LIMIT_MODULE_ID_BYTES)", ret_out);
  if (wish == NULL && session->wish_count == LIMIT_DEBUG_WANTED)
    return refuse_wish(wanted->id, "too many files are wanted at once", ret_out);
  if (session->parts->debug == NULL ||
      debug_sender_want(session->parts->debug, wanted, why, sizeof why) < 0) {
    end_wish(session, wanted->id);
    return refuse_wish(wanted->id, why, ret_out);
  }
  if (wish == NULL) wish = &session->wishes[session->wish_count++];
  memcpy(wish->id, wanted->id.data, wanted->id.len);
  wish->id_len = (uint8_t)wanted->id.len;
  session->debug_due_ns = now_ns;
  session->debug_moved_ns = now_ns;
  return 0;
}

/* When to call the debug sender again after it has returned RC. */
static uint64_t debug_wait_ns(int rc) {
  switch (rc) {
  case -ENOENT:
    return UINT64_MAX;
  case -EINPROGRESS:
    return CHILD_RETRY_NS;
  case -EDQUOT:
    return BUDGET_RETRY_NS;
  default:
    return 0;
  }
}

/* Sends PIECE if RC is 0, else WHY there is none. */
static int give_outcome(struct uplink_session *session, int rc, const struct debug_chunk *piece,
                        const char *why, struct buf *ret_out) {
  if (rc == 0) {
    struct message message = {.type = FRAME_DEBUG_CHUNK};
    message.debug_chunk = *piece;
    return put(&message, ret_out);
  }
  if (piece->id.len == 0) return -ENOENT;
  rc = refuse_wish(piece->id, why, ret_out);
  end_wish(session, piece->id);
  return rc;
}

static int give_piece(struct uplink_session *session, uint64_t now_ns, struct buf *ret_out) {
  if (session->wish_count == 0 || !session->is_drained || now_ns < session->debug_due_ns)
    return -ENOENT;
  struct arena arena;
  struct debug_chunk piece = {0};
  const char *why = "";
  arena_init(&arena, PIECE_BYTES);
  int rc = debug_sender_next(session->parts->debug, &arena, &piece, &why);
  uint64_t wait_ns = debug_wait_ns(rc);
  session->is_over_budget = rc == -EDQUOT;
  session->debug_due_ns = wait_ns == UINT64_MAX ? UINT64_MAX : now_ns + wait_ns;
  if (rc == -EAGAIN || wait_ns != 0) {
    rc = -ENOENT;
  } else {
    session->debug_moved_ns = now_ns;
    rc = give_outcome(session, rc, &piece, why, ret_out);
  }
  arena_fini(&arena);
  return rc;
}

/* --- The certificate --- */

static struct renewal_files files_of(const struct uplink_parts *parts) {
  return (struct renewal_files){.certificate = parts->certificate_path,
                                .key = parts->key_path,
                                .ca = parts->ca_path,
                                .state_dir = parts->state_dir,
                                .collector = parts->address};
}

/* Plans the renewal.  TRUST identifies the CA certificates that the collector distributes. */
static void plan_renewal(struct uplink_session *session, uint64_t trust, uint64_t now_ns) {
  const struct renewal_files files = files_of(session->parts);
  uint64_t wait_ns = 0;
  if (trust == 0 || files.state_dir == NULL || session->is_renewed) return;
  int rc = session->is_renew_only
               ? 0
               : renewal_wait_ns(&files, session->server_walltime_ns, trust, &wait_ns);
  if (rc < 0)
    log_warn("uplink-renewal %s: not planned: %s", files.certificate, strerror(-rc));
  else
    session->renew_due_ns = now_ns + wait_ns;
}

static int give_request(struct uplink_session *session, uint64_t now_ns, struct buf *ret_out) {
  const struct renewal_files files = files_of(session->parts);
  struct buf csr = {0};
  struct message message = {.type = FRAME_RENEW};
  EVP_PKEY_free(session->renew_key);
  session->renew_key = NULL;
  session->renew_due_ns = now_ns + RENEW_RETRY_NS;
  int rc = renewal_ask(&files, session->is_renew_only, &session->renew_key, &csr);
  if (rc < 0) log_warn("uplink-renewal %s: not asked for: %s", files.certificate, strerror(-rc));
  message.renew.csr = buf_span(&csr);
  int sent = rc == 0 ? put(&message, ret_out) : -ENOENT;
  session->is_renewing = sent == 0;
  buf_fini(&csr);
  return sent;
}

static int take_renewed(struct uplink_session *session, const struct renewed *renewed) {
  const struct renewal_files files = files_of(session->parts);
  if (!session->is_renewing) return -EPROTO;
  const char *wrong = renewal_install(&files, session->renew_key, renewed);
  session->is_renewing = false;
  session->is_renewed = wrong == NULL;
  session->has_news = true;
  if (wrong == NULL) {
    log_info("uplink-renewal %s: renewed", files.certificate);
    return 0;
  }
  log_warn("uplink-renewal %s: not renewed: %s", files.certificate, wrong);
  if (!session->is_renew_only) return 0;
  snprintf(session->why, sizeof session->why,
           "the certificate has expired and is not renewed: %.180s", wrong);
  return -EACCES;
}

/* --- Messages --- */

static int take_welcome(struct uplink_session *session, const struct welcome *welcome,
                        uint64_t now_ns) {
  if (welcome->version != LIMIT_PROTOCOL_VERSION) {
    snprintf(session->why, sizeof session->why, "the collector speaks protocol %u, this daemon %u",
             welcome->version, (unsigned)LIMIT_PROTOCOL_VERSION);
    return -EPROTO;
  }
  session->is_welcome = true;
  session->has_news = true;
  session->server_walltime_ns = welcome->walltime_ns;
  session->is_renew_only = welcome->renew_only;
  session->return_within_ms = welcome->return_within_ms;
  session->prefix_bytes_max = welcome->prefix_bytes_max;
  snprintf(session->page_url, sizeof session->page_url, "%s", welcome->page_url);
  plan_renewal(session, welcome->trust, now_ns);
  return 0;
}

/* A reject without a batch applies to the board. */
static bool is_refusal(const struct reject *reject) {
  return reject->run == 0 && reject->seq == 0;
}

/* A permanent rejection is retried too, with the usual back-off: an operator may correct the
   cause. */
static int take_refusal(struct uplink_session *session, const struct reject *reject) {
  if (!reject->permanent) session->come_after_ms = reject->retry_after_ms;
  snprintf(session->why, sizeof session->why, "the collector refuses this board: %.200s",
           reject->reason);
  return -EACCES;
}

static int take_command(const struct command *command, struct buf *ret_out) {
  struct message message = {.type = FRAME_RESULT};
  message.result = (struct result){.id = command->id, .error = "unknown verb"};
  log_info("uplink-command %s: refused: this daemon knows no such verb", command->verb);
  return put(&message, ret_out);
}

static int take_message(struct uplink_session *session, const struct message *message,
                        uint64_t now_ns, struct buf *ret_out) {
  switch (message->type) {
  case FRAME_ACK:
    take_ack(session, &message->ack);
    return 0;
  case FRAME_REJECT:
    take_reject(session, &message->reject, now_ns);
    return 0;
  case FRAME_DEBUG_WANTED:
    return take_wish(session, &message->debug_wanted, now_ns, ret_out);
  case FRAME_DEBUG_END:
    if (session->parts->debug != NULL)
      debug_sender_drop(session->parts->debug, message->debug_end.id);
    session->debug_moved_ns = now_ns;
    end_wish(session, message->debug_end.id);
    return 0;
  case FRAME_PONG:
    session->server_walltime_ns = message->pong.walltime_ns;
    if (message->pong.return_within_ms != 0)
      session->return_within_ms = message->pong.return_within_ms;
    plan_renewal(session, message->pong.trust, now_ns);
    return 0;
  case FRAME_RENEWED:
    return take_renewed(session, &message->renewed);
  case FRAME_COMMAND:
    return take_command(&message->command, ret_out);
  default:
    return -EPROTO;
  }
}

int uplink_session_take(struct uplink_session *session, const struct frame *frame, uint64_t now_ns,
                        struct buf *ret_out) {
  struct arena arena;
  struct message message;
  arena_init(&arena, DECODE_BYTES);
  int rc = message_decode(frame, &arena, &message, session->why, sizeof session->why);
  if (rc == 0) {
    session->heard_ns = now_ns;
    session->asked_ns = 0;
    snprintf(session->why, sizeof session->why,
             "the collector sent what a board does not expect (frame type %d%s)", (int)frame->type,
             session->is_welcome ? "" : " before Welcome");
    bool is_welcome = message.type == FRAME_WELCOME;
    if (message.type == FRAME_REJECT && is_refusal(&message.reject))
      rc = take_refusal(session, &message.reject);
    else if (is_welcome == session->is_welcome)
      rc = -EPROTO;
    else if (is_welcome)
      rc = take_welcome(session, &message.welcome, now_ns);
    else
      rc = take_message(session, &message, now_ns, ret_out);
  }
  arena_fini(&arena);
  return rc;
}

int uplink_session_give(struct uplink_session *session, uint64_t now_ns, struct buf *ret_out) {
  if (!session->is_welcome || session->is_renewed) return -ENOENT;
  if (now_ns >= session->renew_due_ns) return give_request(session, now_ns, ret_out);
  if (session->is_renew_only) return -ENOENT;
  int rc = give_batch(session, now_ns, ret_out);
  return rc == -ENOENT ? give_piece(session, now_ns, ret_out) : rc;
}

/* Whether PING repeats the last one. */
static bool is_old_news(const struct uplink_session *session, const struct ping *ping) {
  return ping->effort.budget_state == NULL && ping->is_settled == session->is_told_settled &&
         memcmp(&ping->counters, &session->told, sizeof session->told) == 0;
}

static int give_ping(struct uplink_session *session, uint64_t now_ns, struct buf *ret_out) {
  struct message message = {.type = FRAME_PING};
  bool is_long_ago = now_ns >= session->pinged_ns + IDLE_PING_NS;
  if (!is_long_ago && now_ns < session->told_ns + PING_NS) {
    session->ping_due_ns = session->told_ns + PING_NS;
    return 0;
  }
  session->ping_due_ns = now_ns + PING_NS;
  session->parts->fill_ping(session->parts->context, &message.ping);
  if (!is_long_ago && is_old_news(session, &message.ping)) return 0;
  session->told = message.ping.counters;
  session->is_told_settled = message.ping.is_settled;
  session->told_ns = session->pinged_ns = now_ns;
  if (session->asked_ns == 0) session->asked_ns = now_ns;
  return put(&message, ret_out);
}

/* Ends the pause when its time has passed and all pending batches are answered. */
static void end_pause(struct uplink_session *session, uint64_t now_ns) {
  if (session->held_until_ns == 0 || session->flight_count > 0) return;
  if (now_ns < session->held_until_ns) return;
  session->held_until_ns = 0;
  spool_rewind(session->parts->spool);
}

int uplink_session_tick(struct uplink_session *session, uint64_t now_ns, struct buf *ret_out) {
  if (session->asked_ns != 0 && now_ns >= session->asked_ns + SILENCE_NS) {
    snprintf(session->why, sizeof session->why, "the collector has been silent for %llu s",
             (unsigned long long)((now_ns - session->heard_ns) / NS_PER_SECOND));
    return -ETIMEDOUT;
  }
  if (session->flight_count > 0 && now_ns >= session->flights[0].sent_ns + ANSWER_NS) {
    snprintf(session->why, sizeof session->why, "the collector has not acked a batch for %llu s",
             ANSWER_NS / NS_PER_SECOND);
    return -ETIMEDOUT;
  }
  end_pause(session, now_ns);
  bool is_stuck = session->wish_count > 0 && session->debug_due_ns == UINT64_MAX &&
                  now_ns >= session->debug_moved_ns + WISH_FORGET_NS;
  if (is_stuck) {
    session->wish_count = 0;
    session->has_news = true;
  }
  return session->is_welcome && now_ns >= session->ping_due_ns ? give_ping(session, now_ns, ret_out)
                                                               : 0;
}

static void bring_forward(uint64_t *due_ns, uint64_t at_ns) {
  if (at_ns < *due_ns) *due_ns = at_ns;
}

/* The times at which give has work. */
static uint64_t give_due_ns(const struct uplink_session *session) {
  uint64_t due_ns = UINT64_MAX;
  if (session->is_welcome && !session->is_renewed) bring_forward(&due_ns, session->renew_due_ns);
  if (session->wish_count > 0 && session->is_drained) bring_forward(&due_ns, session->debug_due_ns);
  if (session->is_paced) bring_forward(&due_ns, session->paced_until_ns);
  return due_ns;
}

uint64_t uplink_session_due_ns(const struct uplink_session *session, bool has_room) {
  uint64_t due_ns = session->ping_due_ns;
  if (session->asked_ns != 0) bring_forward(&due_ns, session->asked_ns + SILENCE_NS);
  if (session->flight_count > 0) bring_forward(&due_ns, session->flights[0].sent_ns + ANSWER_NS);
  if (session->held_until_ns != 0 && session->flight_count == 0)
    bring_forward(&due_ns, session->held_until_ns);
  if (session->wish_count > 0 && session->debug_due_ns == UINT64_MAX)
    bring_forward(&due_ns, session->debug_moved_ns + WISH_FORGET_NS);
  if (has_room) bring_forward(&due_ns, give_due_ns(session));
  return due_ns;
}

bool uplink_session_is_outdated(const struct uplink_session *session) {
  return session->is_renewed && session->flight_count == 0;
}

void uplink_session_fini(struct uplink_session *session) {
  EVP_PKEY_free(session->renew_key);
  prefix_forget(&session->prefix);
  *session = (struct uplink_session){0};
}

bool uplink_session_is_idle(const struct uplink_session *session) {
  return session->is_welcome && !session->is_renew_only && !session->is_renewed &&
         session->flight_count == 0 && session->held_until_ns == 0 &&
         (session->wish_count == 0 || session->is_over_budget);
}
