/* SPDX-License-Identifier: Apache-2.0 */
/* A board's messages. Its time since boot advances steadily; its wall clock may have any value. */
#include "board_state.h"

#include "common/clock.h"
#include "proto/messages.h"
#include "random.h"

#include <errno.h>
#include <stdlib.h>

#define BOOT_SHIFT_NS (30 * 24 * 3600 * NS_PER_SECOND)
#define TEN_YEARS_NS (3653 * 24 * 3600 * NS_PER_SECOND)
#define HOUR_NS (3600 * NS_PER_SECOND)

enum { SITES = 40, MODELS = 3, ACHIEVED_MHZ = 98900, KINDS = 64 /* of each recorded window */ };

void board_frames_init(struct board *board) {
  const struct plan *plan = board->crew->plan;
  uint64_t state = random_state(plan->seed, board->index, 0);
  struct variant variant = {&plan->recordings, plan->seed, board->index, 0, KINDS};
  for (unsigned i = 0; i < sizeof board->boot_id; i++)
    board->boot_id[i] = (uint8_t)random_next(&state);
  board->boot_shift_ns =
      plan->age_ns + plan->backlog * plan->window_ns + random_below(&state, BOOT_SHIFT_NS);
  board->random = random_next(&state);
  outbox_init(&board->outbox, &variant, random_next(&state) | 1, plan->spool_limit);
}

static uint64_t wall_of(const struct board *board, uint64_t true_ns) {
  return true_ns + (uint64_t)board->wall_jump_ns;
}

void board_frames_jump(struct board *board) {
  uint64_t boottime_ns = clock_boottime_ns() + board->boot_shift_ns;
  switch (random_below(&board->random, 4)) {
  case 0:
    board->wall_jump_ns = (int64_t)(boottime_ns - clock_walltime_ns());
    break;
  case 1:
    board->wall_jump_ns = (int64_t)TEN_YEARS_NS;
    break;
  case 2:
    board->wall_jump_ns = -(int64_t)HOUR_NS;
    break;
  default:
    board->wall_jump_ns = 0;
  }
}

static int put(struct board *board, const struct message *message) {
  return message_encode(message, &board->crew->out);
}

int board_frames_hello(struct board *board) {
  static const char *const models[MODELS] = {"alpha", "beta", "gamma"};
  char site[16];
  snprintf(site, sizeof site, "site-%02u", board->index % SITES);
  const struct label labels[] = {{"site", site}, {"model", models[board->index % MODELS]}};
  struct message message = {.type = FRAME_HELLO};
  message.hello = (struct hello){
      .version = LIMIT_PROTOCOL_VERSION,
      .boottime_ns = clock_boottime_ns() + board->boot_shift_ns,
      .walltime_ns = wall_of(board, clock_walltime_ns()),
      .capabilities = board->crew->plan->is_alone ? 0 : CAPABILITY_PREFIX,
      .program_version = FLEETPROF_VERSION,
      .arch = "x86_64",
      .kernel = "simulated",
      .label_count = sizeof labels / sizeof *labels,
      .labels = labels,
      .counters = outbox_counters(&board->outbox, &board->outbox.made, false),
      .sampler = "perf",
      .achieved_mhz = ACHIEVED_MHZ,
  };
  memcpy(message.hello.boot_id, board->boot_id, sizeof message.hello.boot_id);
  return put(board, &message);
}

int board_frames_ping(struct board *board, bool is_final) {
  struct message message = {.type = FRAME_PING};
  message.ping = (struct ping){
      .boottime_ns = clock_boottime_ns() + board->boot_shift_ns,
      .walltime_ns = wall_of(board, clock_walltime_ns()),
      .counters = outbox_counters(&board->outbox, &board->outbox.made, is_final),
      .sampler = "perf",
      .achieved_mhz = ACHIEVED_MHZ,
  };
  return put(board, &message);
}

int board_frames_refuse(struct board *board, struct span id) {
  struct message message = {.type = FRAME_DEBUG_END};
  message.debug_end = (struct debug_end){.id = id, .reason = "this board sends no debug files"};
  return put(board, &message);
}

/* The end of window SEQ by our own monotonic clock; the backlog's lie before the start. */
static uint64_t end_of(const struct board *board, uint64_t seq) {
  const struct plan *plan = board->crew->plan;
  return board->first_end_ns + (seq - 1) * plan->window_ns - plan->backlog * plan->window_ns;
}

/* Like the daemon's referral_make, but it compresses only one way. The daemon tries both ways with
   new memory once a window, which is too expensive for thousands of boards. */
static int put_batch(struct board *board, struct message *message, bool may_refer,
                     bool *ret_is_referring) {
  struct variant_room *room = &board->crew->room;
  struct envelope *batch = &message->batch;
  struct prefix *last = &board->last;
  bool is_kept = may_refer && batch->raw_len <= board->prefix_bytes_max;
  if (is_kept) batch->after = last->seq;
  struct span prefix = batch->after != 0 ? buf_span(&last->raw) : (struct span){0};
  int error = variant_compress(room, prefix, batch);
  if (is_kept)
    prefix_keep(last, batch->run, batch->seq, buf_span(&room->raw));
  else
    prefix_forget(last);
  *ret_is_referring = batch->after != 0;
  return error != 0 ? error : put(board, message);
}

static int encode(struct board *board, const struct outbox_entry *entry, bool may_refer,
                  bool *ret_is_referring) {
  struct variant variant = board->outbox.variant;
  struct message message = {.type = FRAME_BATCH};
  uint64_t window_ns = board->crew->plan->window_ns;
  /* Clocks that run evenly: how long ago it was is the same by all of them. */
  uint64_t age_ns = clock_monotonic_ns() - end_of(board, entry->seq) + board->crew->plan->age_ns;
  struct variant_frame frame = {
      .end_boottime_ns = clock_boottime_ns() + board->boot_shift_ns - age_ns,
      .end_walltime_ns = wall_of(board, clock_walltime_ns()) - age_ns,
      .counters = outbox_counters(&board->outbox, &entry->totals, false),
  };
  frame.start_boottime_ns = frame.end_boottime_ns - window_ns;
  frame.start_walltime_ns = frame.end_walltime_ns - window_ns;
  memcpy(frame.boot_id, board->boot_id, sizeof frame.boot_id);
  variant.seq = entry->seq;
  int error = variant_encode_raw(&variant, &frame, &board->crew->room, &message.batch);
  return error != 0 ? error : put_batch(board, &message, may_refer, ret_is_referring);
}

int board_frames_batch(struct board *board, const struct outbox_entry *entry, bool may_refer,
                       bool *ret_is_referring) {
  if (board->prepared_frames == NULL || entry->seq > board->crew->plan->backlog)
    return encode(board, entry, may_refer, ret_is_referring);
  prefix_forget(&board->last);
  const struct prepared_frame *frame = &board->prepared_frames[entry->seq];
  size_t begin = frame[-1].end;
  buf_append(&board->crew->out, board->prepared.data + begin, frame->end - begin);
  *ret_is_referring = frame->is_referring;
  return board->crew->out.failed ? -ENOMEM : 0;
}

int board_frames_prepare(struct board *board) {
  uint64_t backlog = board->crew->plan->backlog;
  board->prefix_bytes_max = LIMIT_PREFIX_BYTES; /* until a collector sends its own limit */
  struct outbox rehearsal = board->outbox;
  struct prepared_frame *frames = calloc(backlog + 1, sizeof *frames); /* of seq 1 and on */
  int error = frames != NULL ? 0 : -ENOMEM;
  for (uint64_t seq = 1; seq <= backlog && error == 0; seq++) {
    outbox_close_window(&rehearsal);
    buf_clear(&board->crew->out);
    const struct outbox_entry entry = {.seq = seq, .totals = rehearsal.made};
    error = encode(board, &entry, board->crew->plan->is_steady, &frames[seq].is_referring);
    buf_append(&board->prepared, board->crew->out.data, board->crew->out.len);
    frames[seq].end = board->prepared.len;
  }
  buf_clear(&board->crew->out);
  prefix_forget(&board->last);
  board->prepared_frames = frames;
  return board->prepared.failed ? -ENOMEM : error;
}

void board_frames_forget(struct board *board) {
  prefix_forget(&board->last);
  if (!board->crew->plan->is_steady) return;
  buf_fini(&board->prepared);
  free(board->prepared_frames);
  board->prepared_frames = NULL;
}
