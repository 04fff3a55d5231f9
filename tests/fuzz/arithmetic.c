/* SPDX-License-Identifier: Apache-2.0 */
/* Random batches of several boards, some of which lie, through the real codec, checks and store,
   against sums in numbers that are wide enough for all of them.

     honest boards   each batch is taken, and each number of theirs comes out exactly
     lying ones      what can be is taken and counts exactly; what cannot is refused
     all             produced = stored + dropped + pending; nothing negative; produced and stored
                     never fall, over restarts either

   Looked at as batches come, and at the end once more with sums of hours and days in the windows'
   place.  Arguments: how many batches, and what the random numbers begin with. */
#include "common/arena.h"
#include "common/buf.h"
#include "common/clock.h"
#include "ingest/plausible.h"
#include "proto/batch_codec.h"
#include "proto/opened_batch.h"
#include "query/load.h"
#include "store/store.h"
#include "store/store_read.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  BOARDS = 6,
  LIARS = 2, /* the first ones */
  TARGETS = 3,
  SAMPLES = 24,   /* more than are told apart of a series that is cut */
  GROUP = 64,     /* batches a commit */
  RUN_SEQS = 100, /* then a board begins another run, at random sooner */
  LOOK_BATCHES = 8192,
  QUERY_BYTES = 256 << 20,
  BATCH_RECORDS = 1000,
  CPUS_MAX = 1024, /* of a board */
};
#define WINDOW_MS UINT64_C(10000)
#define DAY_MS UINT64_C(86400000)
#define SPAN_DAYS 300 /* that the windows may lie back */

#define CHECK(what) \
  if (!(what)) fail(__LINE__, #what)

static uint64_t seed, random_state, batches_done;
static char dir[PATH_MAX]; /* stays when something does not hold */

static void fail(int line, const char *what) {
  fprintf(stderr,
          "arithmetic: line %d: %s does not hold: seed %" PRIu64 ", after %" PRIu64
          " batches, in %s\n",
          line, what, seed, batches_done, dir);
  exit(1);
}

static uint64_t random_number(void) { /* splitmix64 */
  uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static uint64_t below(uint64_t limit) {
  return random_number() % limit;
}

/* --- What must come out --- */

struct run {
  uint64_t id, seq;
  struct counters told; /* by the board, when it does not lie */
  wide_sum produced, stored, dropped[LOSS_REASON_COUNT];
};

struct board {
  char name[16];
  struct run run;
  wide_sum weight, records;
  uint64_t seen_produced, seen_stored, seen_refused; /* by the last look */
};

struct offer {
  struct board *board;
  struct batch batch;
  struct batch_sample samples[SAMPLES];
  struct envelope envelope;
  struct buf raw, packed;
  struct opened_batch *opened;
  uint64_t start_ms;
};

static struct board boards[BOARDS];
static struct offer offers[GROUP];
static unsigned offer_count;
static struct store *store;
static struct opening_room room;
static uint64_t next_ms, taken, refused;

static const struct batch_module module = {{(const uint8_t *)"\x12\xab", 2}, "/bin/t", 4096, 0};
static const struct batch_target targets[TARGETS] = {
    {.service = "shop", .exe = "/bin/t", .sampler = "perf", .why = ""},
    {.service = "till", .exe = "/bin/t", .sampler = "timer", .why = ""},
    {.service = "dock", .exe = "/bin/t", .sampler = "perf", .why = ""}};
static const struct batch_thread threads[TARGETS] = {{0, "t"}, {1, "t"}, {2, "u"}};
static struct batch_node nodes[SAMPLES];

static void make_nodes(void) {
  for (uint32_t i = 0; i < SAMPLES; i++)
    nodes[i] = (struct batch_node){i > 0 ? (i - 1) / 2 : BATCH_NONE, 0, 16 * (i + 1)};
}

/* The bounds of ingest/plausible.h, worked out apart from it. */
static bool can_be(const struct batch *batch) {
  const wide_sum second = 1000000000, most = (wide_sum)1 << 56;
  wide_sum span = batch->end_boottime_ns - batch->start_boottime_ns;
  wide_sum bound = 2 * (wide_sum)(batch->cpus > 0 ? batch->cpus : CPUS_MAX) * (span + 60 * second);
  wide_sum weight = 0, records = 0;
  if (bound > most) bound = most;
  for (uint32_t i = 0; i < batch->sample_count; i++) {
    weight += batch->samples[i].weight;
    records += batch->samples[i].count;
  }
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++)
    if (batch->counters.dropped[i] > most) return false;
  return weight <= bound && records <= bound / 100000 && batch->counters.produced <= most &&
         batch->counters.shipped <= most && batch->cpus <= CPUS_MAX &&
         batch->end_boottime_ns <= 50 * 365 * 86400 * second;
}

static wide_sum larger(wide_sum a, wide_sum b) {
  return a > b ? a : b;
}

static bool is_after_spooling(unsigned reason) {
  return reason == LOSS_SPOOL_FULL || reason == LOSS_SPOOL_ERROR || reason == LOSS_WORKER_KILLED ||
         reason == LOSS_SPOOL_CORRUPT || reason == LOSS_REJECTED || reason == LOSS_QUOTA;
}

/* Adds RECORDS and what COUNTERS say to RUN.  Returns false, with RUN as it was, where no run can
   be like that. */
static bool add_to_run(struct run *run, const struct counters *counters, wide_sum records) {
  struct run after = *run;
  wide_sum all = after.stored += records;
  after.produced = larger(after.produced, counters->produced);
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++) {
    after.dropped[i] = larger(after.dropped[i], counters->dropped[i]);
    if (!is_after_spooling(i)) all += after.dropped[i];
  }
  if (all > after.produced) return false;
  *run = after;
  return true;
}

/* --- Batches --- */

/* Processes that ended were busy on all CPUs while the daemon slept: its window begins then. */
static void bill_late(struct offer *offer) {
  uint64_t slept_ns = below(UINT64_C(900000000000));
  offer->batch.start_boottime_ns -= slept_ns;
  for (uint32_t i = 0; i < TARGETS; i++)
    offer->samples[i].weight += offer->batch.cpus * slept_ns / TARGETS;
}

static void make_honest(struct offer *offer) {
  struct run *run = &offer->board->run;
  uint64_t records = 0, lost = below(4) == 0 ? below(50) : 0;
  offer->batch = (struct batch){.cpus = (uint32_t)(1 + below(8)),
                                .start_boottime_ns = UINT64_C(1000000000000),
                                .end_boottime_ns = UINT64_C(1010000000000),
                                .module_count = 1,
                                .target_count = TARGETS,
                                .thread_count = TARGETS,
                                .node_count = SAMPLES,
                                .sample_count = SAMPLES,
                                .modules = &module,
                                .targets = targets,
                                .threads = threads,
                                .nodes = nodes,
                                .samples = offer->samples};
  for (uint32_t i = 0; i < SAMPLES; i++) {
    uint64_t count = below(BATCH_RECORDS / SAMPLES);
    offer->samples[i] = (struct batch_sample){i, i % TARGETS, SAMPLE_CPU, count,
                                              count > 0 ? count * 10000000 : below(1000000000)};
    records += count;
  }
  if (below(8) == 0) bill_late(offer);
  run->told.produced += records + lost;
  run->told.shipped += records;
  run->told.dropped[LOSS_RING_FULL] += lost;
  offer->batch.counters = run->told;
  offer->envelope = (struct envelope){.run = run->id, .seq = ++run->seq, .records = records};
}

static void claim_weight(struct offer *offer, uint64_t weight) {
  offer->batch.cpus = below(4) == 0 ? 8192 : CPUS_MAX;
  offer->batch.start_boottime_ns = 0;
  offer->batch.end_boottime_ns = UINT64_C(1) << 54;
  for (uint32_t i = 0; i < SAMPLES; i++) offer->samples[i].weight = 0;
  offer->samples[below(SAMPLES)].weight = weight;
}

static void lie(struct offer *offer) {
  struct counters *counters = &offer->batch.counters;
  struct batch_sample *sample = &offer->samples[below(SAMPLES)];
  const uint64_t many[] = {INT64_MAX,         UINT64_C(1) << 62, (UINT64_C(1) << 56) + 1,
                           UINT64_C(1) << 56, UINT64_C(1) << 40, below(UINT64_C(1) << 20)};
  uint64_t number = many[below(sizeof many / sizeof *many)];
  switch (below(11)) {
  case 0:
    sample->weight = number;
    break;
  case 1:
    claim_weight(offer, number);
    break;
  case 2:
    counters->produced = number;
    break;
  case 3:
    counters->produced = 0;
    break;
  case 4:
    counters->dropped[below(LOSS_REASON_COUNT)] = number;
    break;
  case 5:
    counters->shipped = number;
    break;
  case 6:
    if (number > offer->batch.start_boottime_ns) offer->batch.end_boottime_ns = number;
    break;
  case 7:
    offer->batch.cpus = 0;
    sample->weight = number;
    break;
  case 8:
    claim_weight(offer, UINT64_C(1) << 56);
    sample->count = number;
    counters->produced = UINT64_C(1) << 56;
    break;
  case 9: /* each target alone could have it */
    for (uint32_t i = 0; i < TARGETS; i++)
      offer->samples[i].weight += offer->batch.cpus * UINT64_C(140000000000) / (1 + below(4));
    break;
  default:
    claim_weight(offer, UINT64_C(1) << 56);
    break;
  }
  offer->envelope.records = batch_record_count(&offer->batch);
}

/* Returns false where our own encoder sends no such batch. */
static bool seal(struct offer *offer) {
  buf_clear(&offer->raw);
  buf_clear(&offer->packed);
  if (batch_encode(&offer->batch, &offer->raw) == -EOVERFLOW) return false;
  CHECK(offer->raw.len > 0 && !offer->raw.failed);
  CHECK(compress(buf_span(&offer->raw), 1, &offer->packed) == 0);
  offer->envelope.raw_len = (uint32_t)offer->raw.len;
  offer->envelope.zstd = buf_span(&offer->packed);
  return true;
}

/* --- What the collector does with them (ingest/writer.c) --- */

static bool does_decode(const struct batch *batch) {
  wide_sum weight = 0, records = 0;
  for (uint32_t i = 0; i < batch->sample_count; i++) {
    weight += batch->samples[i].weight;
    records += batch->samples[i].count;
  }
  return weight <= INT64_MAX && records <= INT64_MAX &&
         batch->start_boottime_ns <= batch->end_boottime_ns;
}

/* Returns whether it is to be stored, as far as it can tell by itself. */
static bool open_offer(struct offer *offer) {
  const struct plausible_limits limits = {UINT64_MAX, CPUS_MAX};
  char why[256] = "";
  int error =
      opened_batch_make(&offer->envelope, (struct span){0}, &room, &offer->opened, why, sizeof why);
  CHECK((error == 0) == does_decode(&offer->batch));
  if (error == 0) {
    error = plausible_batch(&offer->opened->batch, &limits, why, sizeof why);
    CHECK((error == 0) == can_be(&offer->batch));
  }
  if (error == 0) return true;
  CHECK(why[0] != '\0');
  const struct store_refusal refusal = {offer->board->name, offer->envelope.run,
                                        offer->envelope.seq, offer->envelope.records & INT32_MAX,
                                        why};
  opened_batch_free(offer->opened);
  offer->opened = NULL;
  CHECK(store_refused(store, &refusal) == 0);
  return false;
}

static void expect_outcome(struct offer *offer, enum store_outcome outcome) {
  struct board *board = offer->board;
  struct run *run = &board->run;
  uint64_t records = batch_record_count(&offer->batch);
  CHECK(run->id == offer->envelope.run); /* a group ends with the run */
  bool is_possible = add_to_run(run, &offer->batch.counters, records);
  CHECK(outcome == (is_possible ? STORE_STORED : STORE_REFUSED));
  if (!is_possible) {
    refused++;
    return;
  }
  taken++;
  board->records += records;
  for (uint32_t i = 0; i < SAMPLES; i++) board->weight += offer->samples[i].weight;
}

static void commit(void) {
  struct store_append appends[GROUP];
  int error = -EAGAIN;
  if (offer_count == 0) return;
  for (unsigned i = 0; i < offer_count; i++)
    appends[i] = (struct store_append){.board = offers[i].board->name,
                                       .envelope = &offers[i].envelope,
                                       .batch = &offers[i].opened->batch,
                                       .opened = &offers[i].opened,
                                       .start_ms = offers[i].start_ms,
                                       .end_ms = offers[i].start_ms + WINDOW_MS,
                                       .received_ms = offers[i].start_ms + 2 * WINDOW_MS};
  while (error == -EAGAIN) error = store_append(store, appends, offer_count);
  CHECK(error == 0);
  for (unsigned i = 0; i < offer_count; i++) {
    opened_batch_free(offers[i].opened);
    offers[i].opened = NULL;
    expect_outcome(&offers[i], appends[i].outcome);
  }
  offer_count = 0;
}

static void begin_run(struct board *board) {
  commit();
  board->run = (struct run){.id = random_number() | 1};
  board->run.told.run = board->run.id;
}

static void ping(struct board *board) {
  struct counters counters = board->run.told;
  char why[256];
  commit();
  if (board < boards + LIARS)
    counters.dropped[below(LOSS_REASON_COUNT)] = random_number() >> below(64);
  if (plausible_counters(&counters, why, sizeof why) != 0) return;
  const struct store_board_seen seen = {
      .board = board->name, .counters = &counters, .seen_ms = next_ms};
  int error = store_board_seen(store, &seen);
  CHECK(error == (add_to_run(&board->run, &counters, 0) ? 0 : -ERANGE));
}

static void step(void) {
  struct board *board = &boards[below(BOARDS)];
  struct offer *offer = &offers[offer_count];
  bool is_liar = board < boards + LIARS;
  if (board->run.seq >= RUN_SEQS || below(200) == 0) begin_run(board);
  if (below(32) == 0) ping(board);
  offer = &offers[offer_count];
  offer->board = board;
  offer->start_ms = next_ms;
  next_ms += WINDOW_MS / BOARDS;
  make_honest(offer);
  if (is_liar && below(2) == 0) lie(offer);
  if (!seal(offer)) {
    CHECK(is_liar && !does_decode(&offer->batch));
    return;
  }
  bool is_open = open_offer(offer);
  CHECK(is_open || is_liar);
  if (is_open)
    offer_count++;
  else
    refused++;
  if (offer_count == GROUP) commit();
  batches_done++;
}

/* --- What is looked at --- */

static struct board *find_board(const char *name) {
  for (unsigned i = 0; i < BOARDS; i++)
    if (strcmp(boards[i].name, name) == 0) return &boards[i];
  CHECK(!"a board of another name");
  return NULL;
}

static int on_board(void *context, const struct store_board *seen) {
  struct board *board = find_board(seen->name);
  unsigned *count = context;
  wide_sum all = (wide_sum)seen->stored + seen->pending;
  CHECK(seen->produced <= SUM_MAX && seen->stored <= SUM_MAX && seen->pending <= SUM_MAX);
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++) {
    CHECK(seen->dropped[i] <= SUM_MAX);
    all += seen->dropped[i];
  }
  CHECK(seen->produced >= board->seen_produced && seen->stored >= board->seen_stored);
  CHECK(seen->produced == all || seen->produced == SUM_MAX);
  CHECK(seen->stored == wide_sum_cut(board->records));
  CHECK(seen->refused == 0 || board < boards + LIARS);
  CHECK(seen->refused >= board->seen_refused);
  board->seen_produced = seen->produced;
  board->seen_stored = seen->stored;
  board->seen_refused = seen->refused;
  ++*count;
  return 0;
}

static int want(void *context, const struct store_series *series) {
  (void)context, (void)series;
  return 1;
}

static int add_sums(void *context, const struct store_series *series,
                    const struct store_forest *forest, uint64_t start_ms, uint64_t end_ms,
                    const struct store_row *rows, size_t count) {
  wide_sum *sum = context;
  (void)series, (void)forest, (void)start_ms, (void)end_ms;
  for (size_t i = 0; i < count; i++) {
    CHECK(rows[i].weight <= SUM_MAX && rows[i].count <= SUM_MAX);
    *sum += rows[i].weight;
  }
  return 0;
}

static void look_at_answers(void) {
  const struct query_source source = {.store = store};
  const struct query_range range = {.to_ms = UINT64_MAX / 2, .types = SAMPLE_SET_CPU};
  struct arena arena;
  struct query_load load;
  wide_sum weight = 0, records = 0, sums = 0;
  arena_init(&arena, QUERY_BYTES);
  CHECK(query_load(&source, &range, "board", &arena, &load) == 0);
  for (uint32_t i = 0; i < load.count; i++) {
    const struct board *board = find_board(load.rows[i].name);
    CHECK(load.rows[i].weight == board->weight);
    CHECK(load.rows[i].count == wide_sum_cut(board->records));
    weight += board->weight;
    records += board->records;
  }
  CHECK(load.whole.total_weight == weight);
  CHECK(load.whole.total_count == wide_sum_cut(records));
  struct store_scan scan = {.to_ms = UINT64_MAX / 2,
                            .types = SAMPLE_SET_CPU,
                            .sums_will_do = true,
                            .matches = want,
                            .on_block = add_sums,
                            .context = &sums};
  CHECK(store_scan(store, &scan) == 0);
  CHECK(sums == weight);
  scan.sums_will_do = false;
  scan.board_nodes = 1; /* the lightest of each series are merged */
  for (scan.grain_ms = 0; scan.grain_ms <= DAY_MS; scan.grain_ms += DAY_MS) {
    sums = 0;
    CHECK(store_scan(store, &scan) == 0);
    CHECK(sums == weight);
  }
  arena_fini(&arena);
}

static void look(bool at_answers) {
  unsigned count = 0;
  commit();
  CHECK(store_boards(store, on_board, &count) == 0);
  if (at_answers) look_at_answers();
}

static void open_store(void) {
  char error[256] = "";
  if (store_open(dir, &store, error, sizeof error) == 0) return;
  fprintf(stderr, "arithmetic: %s: %s\n", dir, error);
  exit(1);
}

/* What has settled and what has not is there again, and no counter has fallen. */
static void restart(void) {
  commit();
  store_close(store);
  open_store();
  look(false);
}

static int on_entry(const char *path, const struct stat *status, int kind, struct FTW *walk) {
  (void)status, (void)kind, (void)walk;
  return remove(path);
}

/* Sums of days take the place of what they are made of. */
static void sum_up(void) {
  const struct store_keep keep = {
      .windows_ms = next_ms, .minutes_ms = next_ms, .hours_ms = next_ms};
  CHECK(store_roll(store) == 0);
  look(true);
  CHECK(store_retain(store, &keep) == 0);
  look(true);
}

int main(int argc, char **argv) {
  char total[WIDE_SUM_DIGITS + 1];
  uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 5000;
  seed = random_state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  const char *folder = getenv("TMPDIR");
  snprintf(dir, sizeof dir, "%s/fleetprof-arithmetic-XXXXXX", folder != NULL ? folder : "/tmp");
  if (mkdtemp(dir) == NULL) {
    fprintf(stderr, "arithmetic: %s: %s\n", dir, strerror(errno));
    return 1;
  }
  open_store();
  next_ms = clock_walltime_ns() / NS_PER_MS - SPAN_DAYS * DAY_MS;
  make_nodes();
  for (unsigned i = 0; i < BOARDS; i++) {
    snprintf(boards[i].name, sizeof boards[i].name, "%s-%u", i < LIARS ? "liar" : "honest", i);
    begin_run(&boards[i]);
  }
  while (batches_done < count) {
    step();
    if (batches_done % LOOK_BATCHES != 0) continue;
    look(batches_done % (16 * LOOK_BATCHES) == 0);
    if (below(4) == 0) restart();
  }
  look(true);
  restart();
  sum_up();
  store_close(store);
  wide_sum_print(boards[0].weight, total);
  printf("%" PRIu64 " batches, %" PRIu64 " taken, %" PRIu64 " refused; %s ns of %s\n", batches_done,
         taken, refused, total, boards[0].name);
  for (unsigned i = 0; i < GROUP; i++) buf_fini(&offers[i].raw), buf_fini(&offers[i].packed);
  opening_room_fini(&room);
  nftw(dir, on_entry, 8, FTW_DEPTH | FTW_PHYS);
  return 0;
}
