/* SPDX-License-Identifier: Apache-2.0 */
/* The state machine of a board, as agent/uplink has it and with the same patience, on top of an
   outbox instead of a spool.  Its callbacks are deferred, so a step may free its line. */
#include "board.h"
#include "board_state.h"

#include "common/arena.h"
#include "common/clock.h"
#include "proto/messages.h"
#include "random.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>

#define CONNECT_NS (15 * NS_PER_SECOND)
#define SILENCE_NS (45 * NS_PER_SECOND)
#define PING_NS (15 * NS_PER_SECOND)

enum {
  OUT_HIGH_BYTES = 64 << 10,
  DECODE_BYTES = 4 * LIMIT_CONTROL_BYTES,
};

static struct crew_figures *figures_of(const struct board *board) {
  return &board->crew->figures;
}

static enum phase phase_of(const struct board *board) {
  return atomic_load_explicit(&board->crew->plan->phase, memory_order_relaxed);
}

static void earlier(uint64_t *due_ns, uint64_t at_ns) {
  if (at_ns != 0 && at_ns < *due_ns) *due_ns = at_ns;
}

static void arm(struct board *board) {
  uint64_t due_ns = UINT64_MAX, now_ns = clock_monotonic_ns();
  if (board->state == BOARD_GONE) return;
  if (phase_of(board) == PHASE_RUN) earlier(&due_ns, board->window_due_ns);
  earlier(&due_ns, board->fault_due_ns);
  if (board->state == BOARD_OPEN) earlier(&due_ns, board->held_until_ns);
  earlier(&due_ns, board->state == BOARD_OPEN ? board->ping_due_ns : board->deadline_ns);
  uint64_t wait_us = due_ns > now_ns ? (due_ns - now_ns + 999) / 1000 : 0;
  struct timeval wait = {(time_t)(wait_us / 1000000), (suseconds_t)(wait_us % 1000000)};
  event_add(board->timer, &wait);
}

/* --- A session --- */

static void pump(struct board *board) {
  struct evbuffer *output = board->line ? bufferevent_get_output(board->line) : NULL;
  uint64_t now_ns = clock_monotonic_ns();
  if (board->held_until_ns != 0 && now_ns >= board->held_until_ns) board->held_until_ns = 0;
  while (board->state == BOARD_OPEN && board->fault == FAULT_NONE && board->held_until_ns == 0 &&
         evbuffer_get_length(output) < OUT_HIGH_BYTES) {
    if (board->crew->plan->is_steady && outbox_on_wire(&board->outbox) > 0) return;
    struct outbox_entry *entry = outbox_next(&board->outbox);
    if (entry == NULL) return;
    if (entry->sent_ns == 0) entry->sent_ns = now_ns;
    enum fault fault = FAULT_NONE;
    if (phase_of(board) == PHASE_RUN)
      fault = faults_draw(&board->crew->plan->faults, &board->random);
    /* A duplicated batch must stand alone: its copy would refer to a batch that is no longer the
       last. */
    bool may_refer = outbox_on_wire(&board->outbox) == 1 && fault != FAULT_DUPLICATE;
    bool is_referring = false;
    if (board_frames_batch(board, entry, may_refer, &is_referring) != 0) abort();
    if (is_referring) figures_of(board)->referring++;
    board_line_send(board, fault, now_ns);
  }
}

static void take_ack(struct board *board, const struct ack *ack, uint64_t now_ns) {
  struct crew_figures *figures = figures_of(board);
  const struct plan *plan = board->crew->plan;
  const struct outbox_entry *entry = outbox_ack(&board->outbox, ack->seq);
  if (entry == NULL || ack->run != board->outbox.run) {
    figures->known_acks++;
    return;
  }
  retry_reset(&board->retry);
  figures->acks++;
  atomic_fetch_add_explicit(&figures->acked, 1, memory_order_relaxed);
  spans_add(&figures->ack_times, now_ns - entry->sent_ns);
  if (entry->seq <= plan->backlog) return;
  uint64_t end_ns = board->first_end_ns + (entry->seq - plan->backlog - 1) * plan->window_ns;
  spans_add(&figures->window_times, now_ns - end_ns);
}

static void take_reject(struct board *board, const struct reject *reject, uint64_t now_ns) {
  if (reject->run == 0 && reject->seq == 0) { /* meant for the board */
    if (!reject->permanent) retry_asked(&board->retry, reject->retry_after_ms);
    figures_of(board)->refusals++;
    board_line_try_again(board);
    return;
  }
  if (reject->permanent) {
    figures_of(board)->rejects++;
    fprintf(stderr, "fleetsim: %s: refused for good: %s\n", board->name, reject->reason);
    return;
  }
  figures_of(board)->pauses++;
  board_frames_forget(board);
  board->held_until_ns = now_ns + retry_pause_ns(reject->retry_after_ms);
  outbox_rewind(&board->outbox, reject->seq);
}

static void say_last_word(struct board *board) {
  board_frames_ping(board, true);
  board_line_write(board, board->crew->out.len);
  board_set_state(board, BOARD_LEAVING, clock_monotonic_ns() + SILENCE_NS);
}

static void welcome(struct board *board, const struct welcome *welcome, uint64_t now_ns) {
  uint64_t second = (now_ns - board->crew->plan->start_ns) / NS_PER_SECOND;
  if (second < CREW_SECONDS_MAX) figures_of(board)->welcomes[board->was_in][second]++;
  board->was_in = true;
  board->prefix_bytes_max = board->crew->plan->is_alone ? 0 : welcome->prefix_bytes_max;
  if (board->prefix_bytes_max == 0) board_frames_forget(board);
  retry_welcome(&board->retry, now_ns, welcome->return_within_ms);
  board_set_state(board, BOARD_OPEN, 0);
  board->ping_due_ns = now_ns + PING_NS;
  if (phase_of(board) == PHASE_CLOSE) say_last_word(board);
}

/* The board has sent everything and received the acks. */
static void leave(struct board *board) {
  SSL_shutdown(bufferevent_openssl_get_ssl(board->line));
  board_line_hang_up(board);
  board_set_state(board, BOARD_GONE, 0);
  event_del(board->timer);
}

static void take(struct board *board, const struct message *message, uint64_t now_ns) {
  switch (message->type) {
  case FRAME_WELCOME:
    if (board->state == BOARD_GREETING) welcome(board, &message->welcome, now_ns);
    break;
  case FRAME_ACK:
    take_ack(board, &message->ack, now_ns);
    break;
  case FRAME_REJECT:
    take_reject(board, &message->reject, now_ns);
    break;
  case FRAME_DEBUG_WANTED:
    board_frames_refuse(board, message->debug_wanted.id);
    board_line_write(board, board->crew->out.len);
    break;
  case FRAME_PONG:
    retry_told(&board->retry, message->pong.return_within_ms);
    if (board->state == BOARD_LEAVING) leave(board);
    break;
  default:
    break;
  }
}

/* Takes one frame out of INPUT. Returns false if there is no complete frame. */
static bool take_frame(struct board *board, struct evbuffer *input) {
  struct frame frame;
  struct arena arena;
  struct message message;
  char why[256];
  size_t len = evbuffer_get_length(input);
  long taken = len > 0 ? frame_decode(span_of(evbuffer_pullup(input, -1), len), &frame) : -EAGAIN;
  if (taken == -EAGAIN) return false;
  arena_init(&arena, DECODE_BYTES);
  if (taken < 0 || message_decode(&frame, &arena, &message, why, sizeof why) != 0) {
    fprintf(stderr, "fleetsim: %s: the collector sent what is no frame\n", board->name);
    abort();
  }
  board->heard_ns = clock_monotonic_ns();
  take(board, &message, board->heard_ns);
  arena_fini(&arena);
  if (board->line != NULL) evbuffer_drain(input, (size_t)taken);
  return board->line != NULL;
}

/* --- Events --- */

static void on_bytes(struct bufferevent *line, void *context) {
  struct board *board = context;
  while (take_frame(board, bufferevent_get_input(line))) continue;
  pump(board);
  arm(board);
}

static void on_room(struct bufferevent *line, void *context) {
  (void)line;
  pump(context);
  arm(context);
}

static void on_event(struct bufferevent *line, short what, void *context) {
  struct board *board = context;
  (void)line;
  if ((what & BEV_EVENT_CONNECTED) != 0) {
    figures_of(board)->connects++;
    board_frames_hello(board);
    board_line_write(board, board->crew->out.len);
    board_set_state(board, BOARD_GREETING, clock_monotonic_ns() + CONNECT_NS);
  } else {
    figures_of(board)->broken++;
    board_line_try_again(board);
  }
  arm(board);
}

static void connect_line(struct board *board, uint64_t now_ns) {
  const struct plan *plan = board->crew->plan;
  SSL *ssl = board_identity_ssl(&board->identity, plan->tls);
  if (ssl == NULL) abort();
  board->line =
      bufferevent_openssl_socket_new(board->crew->loop, -1, ssl, BUFFEREVENT_SSL_CONNECTING,
                                     BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
  if (board->line == NULL) abort();
  bufferevent_setcb(board->line, on_bytes, on_room, on_event, board);
  bufferevent_setwatermark(board->line, EV_WRITE, OUT_HIGH_BYTES / 2, 0);
  bufferevent_enable(board->line, EV_READ | EV_WRITE);
  board_set_state(board, BOARD_CONNECTING, now_ns + CONNECT_NS);
  if (bufferevent_socket_connect(board->line, (const struct sockaddr *)&plan->address,
                                 (int)plan->address_len) < 0)
    board_line_try_again(board);
}

static void close_windows(struct board *board, uint64_t now_ns) {
  const struct plan *plan = board->crew->plan;
  if (!plan->has_windows || phase_of(board) != PHASE_RUN) return;
  for (; now_ns >= board->window_due_ns; board->window_due_ns += plan->window_ns)
    outbox_close_window(&board->outbox);
}

static void on_timer(evutil_socket_t fd, short what, void *context) {
  struct board *board = context;
  uint64_t now_ns = clock_monotonic_ns();
  (void)fd, (void)what;
  close_windows(board, now_ns);
  if (board->fault_due_ns != 0 && now_ns >= board->fault_due_ns) board_line_end_fault(board);
  if (board->state == BOARD_WAITING && now_ns >= board->deadline_ns) {
    connect_line(board, now_ns);
  } else if (board->state == BOARD_OPEN && now_ns >= board->ping_due_ns) {
    board->ping_due_ns = now_ns + PING_NS;
    if (now_ns >= board->heard_ns + SILENCE_NS) {
      figures_of(board)->timeouts++;
      board_line_try_again(board);
    } else if (board->fault == FAULT_NONE) {
      board_frames_ping(board, false);
      board_line_write(board, board->crew->out.len);
    }
  } else if (board->deadline_ns != 0 && now_ns >= board->deadline_ns) {
    figures_of(board)->timeouts++;
    board_line_try_again(board);
  }
  pump(board);
  arm(board);
}

/* --- The outside --- */

int board_new(struct crew *crew, uint32_t index, struct board **ret) {
  struct board *board = calloc(1, sizeof *board);
  if (board == NULL) return -ENOMEM;
  board->crew = crew;
  board->index = index;
  snprintf(board->name, sizeof board->name, "sim-%05u", index);
  board->first_end_ns = clock_monotonic_ns(); /* until it starts */
  board_frames_init(board);
  int error = board_identity_make(crew->plan->ca, board->name, &board->identity, crew->why,
                                  sizeof crew->why);
  board->timer = evtimer_new(crew->loop, on_timer, board);
  if (board->timer == NULL) error = -ENOMEM;
  if (error == 0 && crew->plan->is_prepared) error = board_frames_prepare(board);
  *ret = board;
  return error;
}

void board_free(struct board *board) {
  if (board == NULL) return;
  if (board->line != NULL) board_line_hang_up(board);
  if (board->half_open != NULL) bufferevent_free(board->half_open);
  if (board->timer != NULL) event_free(board->timer);
  board_identity_fini(&board->identity);
  buf_fini(&board->delayed);
  prefix_forget(&board->last);
  buf_fini(&board->prepared);
  free(board->prepared_frames);
  free(board);
}

void board_start(struct board *board) {
  const struct plan *plan = board->crew->plan;
  uint64_t first_ns = plan->start_ns + random_below(&board->random, plan->ramp_ns + 1);
  board->first_end_ns = plan->start_ns + 1 + random_below(&board->random, plan->window_ns);
  board->window_due_ns = plan->has_windows ? board->first_end_ns : 0;
  for (uint64_t i = 0; i < plan->backlog; i++) outbox_close_window(&board->outbox);
  board_set_state(board, BOARD_WAITING, first_ns);
  arm(board);
}

void board_on_phase(struct board *board) {
  if (board->line != NULL) bufferevent_set_rate_limit(board->line, NULL);
  if (phase_of(board) == PHASE_CLOSE && board->state == BOARD_OPEN) say_last_word(board);
  arm(board);
}

bool board_is_settled(const struct board *board) {
  if (phase_of(board) == PHASE_CLOSE) return board->state == BOARD_GONE;
  return outbox_waiting(&board->outbox) == 0;
}

const char *board_name(const struct board *board) {
  return board->name;
}

const struct outbox *board_outbox(const struct board *board) {
  return &board->outbox;
}
