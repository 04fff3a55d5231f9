/* SPDX-License-Identifier: Apache-2.0 */
/* A board's connection and its faults. The board itself simulates the faults of a network: it cuts
   its frames, stops reading, abandons connections. */
#include "board_state.h"

#include "common/clock.h"
#include "random.h"

#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <openssl/err.h>
#include <sys/socket.h>

#define RESET_NS (30 * NS_PER_MS) /* at most until the RST */
#define LOST_ACK_NS (300 * NS_PER_MS)
#define BLACKHOLE_NS (1 * NS_PER_SECOND)
#define DELAY_NS (500 * NS_PER_MS) /* at most */

static struct crew_figures *figures_of(const struct board *board) {
  return &board->crew->figures;
}

void board_set_state(struct board *board, enum board_state state, uint64_t deadline_ns) {
  board->state = state;
  board->deadline_ns = deadline_ns;
}

static void count_bytes(struct board *board) {
  BIO *wire = SSL_get_wbio(bufferevent_openssl_get_ssl(board->line));
  figures_of(board)->sent_bytes += BIO_number_written(wire);
  figures_of(board)->received_bytes += BIO_number_read(wire);
}

void board_line_hang_up(struct board *board) {
  if (board->line != NULL) {
    count_bytes(board);
    bufferevent_free(board->line);
    ERR_clear_error();
  }
  board->line = NULL;
  board->fault = FAULT_NONE;
  board->fault_due_ns = 0;
  board->held_until_ns = 0;
  buf_clear(&board->delayed);
  board_frames_forget(board);
  outbox_rewind(&board->outbox, 0);
}

void board_line_try_again(struct board *board) {
  board_line_hang_up(board);
  uint64_t now_ns = clock_monotonic_ns();
  board_set_state(board, BOARD_WAITING, now_ns + retry_next_ns(&board->retry, now_ns));
}

static void cut(struct board *board) {
  struct linger at_once = {.l_onoff = 1};
  setsockopt(bufferevent_getfd(board->line), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  board_line_try_again(board);
}

/* The connection stays open and silent on this side; the board reconnects with another. */
static void abandon(struct board *board) {
  if (board->half_open != NULL) bufferevent_free(board->half_open);
  count_bytes(board);
  board->half_open = board->line;
  bufferevent_setcb(board->half_open, NULL, NULL, NULL, NULL);
  board->line = NULL;
  board_line_try_again(board);
}

void board_line_write(struct board *board, size_t len) {
  struct buf *out = &board->crew->out;
  /* Nothing may follow a cut frame: the collector would take it for the frame's rest. */
  if (board->fault != FAULT_RESET) bufferevent_write(board->line, out->data, len);
  buf_clear(out);
}

/* Sends the frame in the crew's `out` as FAULT has it. */
void board_line_send(struct board *board, enum fault fault, uint64_t now_ns) {
  struct buf *out = &board->crew->out;
  uint64_t *random = &board->random;
  size_t len = out->len, part = random_below(random, 2) ? len : random_below(random, len);
  figures_of(board)->faults[fault]++;
  switch (fault) {
  case FAULT_RESET:
    board->fault_due_ns = now_ns + random_below(random, RESET_NS) + 1;
    board_line_write(board, part);
    break;
  case FAULT_LOSE_ACK:
    board->fault_due_ns = now_ns + LOST_ACK_NS;
    bufferevent_disable(board->line, EV_READ);
    board_line_write(board, len);
    break;
  case FAULT_BLACKHOLE:
    board->fault_due_ns = now_ns + BLACKHOLE_NS;
    bufferevent_disable(board->line, EV_READ | EV_WRITE);
    buf_clear(out);
    break;
  case FAULT_DELAY:
    board->fault_due_ns = now_ns + random_below(random, DELAY_NS) + 1;
    buf_append(&board->delayed, out->data, len);
    buf_clear(out);
    break;
  case FAULT_DUPLICATE:
    bufferevent_write(board->line, out->data, len);
    board_line_write(board, len);
    return;
  case FAULT_SLOW:
    bufferevent_set_rate_limit(board->line, board->crew->slow);
    board_line_write(board, len);
    return;
  case FAULT_CLOCK:
    board_frames_jump(board);
    board_frames_ping(board, false);
    board_line_write(board, out->len);
    return;
  case FAULT_NONE:
  case FAULT_COUNT:
    board_line_write(board, len);
    return;
  }
  board->fault = fault;
}

void board_line_end_fault(struct board *board) {
  enum fault fault = board->fault;
  board->fault = FAULT_NONE;
  board->fault_due_ns = 0;
  if (fault == FAULT_RESET || fault == FAULT_LOSE_ACK) cut(board);
  if (fault == FAULT_BLACKHOLE) abandon(board);
  if (fault != FAULT_DELAY) return;
  bufferevent_write(board->line, board->delayed.data, board->delayed.len);
  buf_clear(&board->delayed);
}
