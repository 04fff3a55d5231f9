/* SPDX-License-Identifier: Apache-2.0 */
/* A board's inside, for board.c, board_line.c and board_frames.c. */
#ifndef FLEET_BOARD_STATE_H
#define FLEET_BOARD_STATE_H

#include "board.h"
#include "board_identity.h"
#include "crew.h"

#include "proto/prefix.h"
#include "uplink/retry.h"

enum { BOARD_NAME_BYTES = 32 };

enum board_state {
  BOARD_WAITING,    /* for its first or next attempt */
  BOARD_CONNECTING, /* TCP and TLS */
  BOARD_GREETING,   /* Hello is sent */
  BOARD_OPEN,       /* batches flow */
  BOARD_LEAVING,    /* everything is sent and acked */
  BOARD_GONE
};

struct board {
  struct crew *crew; /* borrowed */
  uint32_t index;
  char name[BOARD_NAME_BYTES];
  struct board_identity identity;
  struct outbox outbox;
  enum board_state state;
  struct bufferevent *line;
  struct bufferevent *half_open; /* a line that a blackhole swallowed: the collector still has it */
  struct event *timer;
  uint64_t deadline_ns; /* of the state */
  uint64_t heard_ns, ping_due_ns;
  uint64_t held_until_ns; /* the collector requested a pause */
  uint64_t window_due_ns; /* the open window ends */
  uint64_t first_end_ns;  /* when the first window after the backlog ends: monotonic */
  enum fault fault;       /* under way */
  uint64_t fault_due_ns;
  struct buf delayed;        /* the frame that a delay holds */
  struct prefix last;        /* the last batch on this connection: the next may refer to it */
  uint32_t prefix_bytes_max; /* the collector's limit */
  uint64_t random;
  struct retry retry;
  bool was_in; /* it was welcomed before */
  /* Its clocks. */
  uint8_t boot_id[BATCH_BOOT_ID_BYTES];
  uint64_t boot_shift_ns; /* its time since boot minus ours */
  int64_t wall_jump_ns;   /* its wall clock minus ours */
  /* The encoded backlog: frames one after the other, and the end of each. Frames that refer to each
     other are valid only on the first connection. */
  struct buf prepared;
  struct prepared_frame {
    size_t end;
    bool is_referring;
  } * prepared_frames;
};

/* Gives BOARD its clocks and books. */
void board_frames_init(struct board *board);

/* Let the wall clock of BOARD jump: to 1970, ten years ahead, an hour back, or to the truth. */
void board_frames_jump(struct board *board);

/* Encodes the backlog.  Returns 0 or -errno. */
int board_frames_prepare(struct board *board);

/* Call when the connection has ended or a batch was not delivered: the next batch stands alone. */
void board_frames_forget(struct board *board);

/* Each writes one frame to the crew's `out`. Returns 0 or -errno. If MAY_REFER and the collector
   has the previous batch, the batch is encoded against it; RET_IS_REFERRING reports that. */
int board_frames_hello(struct board *board);
int board_frames_ping(struct board *board, bool is_final);
int board_frames_batch(struct board *board, const struct outbox_entry *entry, bool may_refer,
                       bool *ret_is_referring);
int board_frames_refuse(struct board *board, struct span id);

/* The only place that changes the state. */
void board_set_state(struct board *board, enum board_state state, uint64_t deadline_ns);

/* Ends the connection; unacked batches will be sent again. */
void board_line_hang_up(struct board *board);

/* The same, and the board reconnects later. */
void board_line_try_again(struct board *board);

/* Sends the first LEN bytes of the crew's `out` and empties that. */
void board_line_write(struct board *board, size_t len);

/* Sends the frame in the crew's `out` as FAULT has it, which may last. */
void board_line_send(struct board *board, enum fault fault, uint64_t now_ns);
void board_line_end_fault(struct board *board);

#endif
