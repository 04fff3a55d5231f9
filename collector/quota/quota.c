/* SPDX-License-Identifier: Apache-2.0 */
/* Quotas.

   Bytes are a token bucket that holds a day's worth and fills evenly. A board that returns with
   weeks in its spool may deliver a day's worth at once. If the bucket is empty, the board is asked
   to retry later; meanwhile its data stays in its own spool, which the board limits.

   Rejections are another token bucket. The record of a rejected batch is as durable as a stored
   one. So a board with undecodable batches must not cause a sync for each.

   Certificates are a third one, which fills within a certificate's life: signing and recording one
   takes a millisecond and a sync.

   Series, nodes and modules are counted by sketch, for 24 hours from a board's first batch on, then
   from zero. A batch is rejected if its quota is used up and the batch would raise the count. So a
   board over its quota can still send known items, and a repeated batch is not rejected. One batch
   may exceed a limit; the next one is rejected. A restart resets the counts: the board gains part
   of a day.

   Nor may a day's worth arrive at once: compacting new items takes time that queries wait for.
   Beyond a tenth of a quota within a minute, but at least 1000, new items wait until the next
   minute. One batch may exceed that.

   A batch must be inflated and decoded to be rejected, which a hostile board could cause as fast as
   it can send. So a rejection blocks its batches for a second, and twice as long each time up to a
   minute, until one is accepted. Blocked batches are delayed without decoding.

   Hashes are keyed by a secret of this process: otherwise a board could choose nodes with equal
   hashes, which would stay uncounted.

   Boards come from certificates, so their number is under the operator's control. Boards silent for
   a day are deleted when the table grows. */
#include "quota.h"

#include "common/buf.h"
#include "common/clock.h"
#include "common/table.h"
#include "proto/limits.h"
#include "sketch.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define DAY_NS (24 * 3600 * NS_PER_SECOND)
#define PACE_NS (60 * NS_PER_SECOND)
#define CLOSED_MIN_NS (1 * NS_PER_SECOND)
#define CLOSED_MAX_NS (60 * NS_PER_SECOND)

enum {
  NAME_BYTES = LIMIT_NAME_BYTES + 1,
  LATER_MS_MIN = 5 * 1000,
  LATER_MS_MAX = 60 * 1000,
  FIRST_BOARDS = 64,
  PACE_SHARE = 10, /* of a quota, within PACE_NS */
  PACE_MIN = 1000,
};

struct bucket {   /* a token bucket: it holds a limit's worth and fills evenly */
  uint64_t spent; /* tokens missing at AT_NS */
  uint64_t at_ns;
};

struct board {
  char name[NAME_BYTES];
  uint64_t heard_ns, day_ns;     /* of its last batch; start of its day */
  struct bucket bytes, refusals; /* filled within a day */
  struct bucket renewals;
  uint64_t closed_until_ns, closed_ns; /* end and length of the last block after a rejection */
  enum quota closed_by;
  struct sketch sketches[QUOTA_COUNT]; /* unused for token buckets */
  uint64_t counts[QUOTA_COUNT];        /* their estimates */
  uint64_t paced[QUOTA_COUNT];         /* their estimates at PACED_NS, the start of the minute */
  uint64_t paced_ns;
  uint64_t refused[QUOTA_COUNT], delayed[QUOTA_COUNT];
};

struct quotas {
  pthread_mutex_t lock; /* protects all following fields except the secret */
  struct quota_limits limits;
  struct table index; /* hash of a name -> index in boards */
  struct board **boards;
  uint32_t count, cap;
  uint64_t refused[QUOTA_COUNT], delayed[QUOTA_COUNT];
  uint64_t secret[2];
};

/* Hashes of the items of one batch. */
struct things {
  uint64_t *hashes[QUOTA_COUNT];
  uint32_t counts[QUOTA_COUNT];
};

static const char *const names[QUOTA_COUNT] = {
#define X(name, text) [QUOTA_##name] = text,
    QUOTAS(X)
#undef X
};

const char *quota_name(enum quota quota) {
  return names[quota];
}

struct quotas *quotas_new(const struct quota_limits *limits) {
  struct quotas *quotas = calloc(1, sizeof *quotas);
  if (quotas == NULL) return NULL;
  if (getrandom(quotas->secret, sizeof quotas->secret, 0) != sizeof quotas->secret) {
    free(quotas);
    return NULL;
  }
  pthread_mutex_init(&quotas->lock, NULL);
  quotas->limits = *limits;
  return quotas;
}

void quotas_free(struct quotas *quotas) {
  if (quotas == NULL) return;
  for (uint32_t i = 0; i < quotas->count; i++) free(quotas->boards[i]);
  free(quotas->boards);
  table_fini(&quotas->index);
  pthread_mutex_destroy(&quotas->lock);
  free(quotas);
}

void quotas_set_limits(struct quotas *quotas, const struct quota_limits *limits) {
  pthread_mutex_lock(&quotas->lock);
  quotas->limits = *limits;
  pthread_mutex_unlock(&quotas->lock);
}

/* --- The boards, under the lock --- */

static uint64_t key_of(const struct quotas *quotas, const char *name) {
  return table_hash(name, strlen(name), quotas->secret[0]);
}

static struct board *find(const struct quotas *quotas, const char *name) {
  uint32_t cursor;
  uint64_t key = key_of(quotas, name);
  for (uint32_t i = table_find(&quotas->index, key, &cursor); i != TABLE_NONE;
       i = table_next(&quotas->index, key, &cursor))
    if (strcmp(quotas->boards[i]->name, name) == 0) return quotas->boards[i];
  return NULL;
}

/* Deletes boards that were silent for a day. Returns false if memory ran out; then all are
   deleted. */
static bool forget_silent(struct quotas *quotas, uint64_t now_ns) {
  uint32_t kept = 0, count = quotas->count;
  bool is_whole = true;
  table_clear(&quotas->index);
  for (uint32_t i = 0; i < count; i++) {
    struct board *board = quotas->boards[i];
    bool is_silent = now_ns - board->heard_ns >= DAY_NS;
    is_whole = is_whole &&
               (is_silent || table_add(&quotas->index, key_of(quotas, board->name), kept) == 0);
    if (is_silent || !is_whole)
      free(board);
    else
      quotas->boards[kept++] = board;
  }
  quotas->count = kept;
  return is_whole;
}

static bool make_room(struct quotas *quotas, uint64_t now_ns) {
  if (quotas->count < quotas->cap) return true;
  if (!forget_silent(quotas, now_ns)) return false;
  if (quotas->count * 2 < quotas->cap) return true;
  uint32_t cap = quotas->cap ? 2 * quotas->cap : FIRST_BOARDS;
  struct board **boards = realloc(quotas->boards, cap * sizeof(struct board *));
  if (boards == NULL) return quotas->count < quotas->cap;
  quotas->boards = boards;
  quotas->cap = cap;
  return true;
}

static struct board *add(struct quotas *quotas, const char *name, uint64_t now_ns) {
  struct board *board = make_room(quotas, now_ns) ? calloc(1, sizeof *board) : NULL;
  if (board == NULL) return NULL;
  snprintf(board->name, sizeof board->name, "%s", name);
  board->day_ns = now_ns;
  if (table_add(&quotas->index, key_of(quotas, board->name), quotas->count) != 0) {
    free(board);
    return NULL;
  }
  return quotas->boards[quotas->count++] = board;
}

/* Returns the board NAME and updates the time of its last batch. Returns NULL if memory ran out:
   then the batch is accepted, since overload protection is elsewhere (ingest/shedding). */
static struct board *hear(struct quotas *quotas, const char *name, uint64_t now_ns) {
  struct board *board = find(quotas, name);
  if (board == NULL) board = add(quotas, name, now_ns);
  if (board == NULL) return NULL;
  board->heard_ns = now_ns;
  if (now_ns - board->day_ns >= DAY_NS) {
    board->day_ns = now_ns;
    memset(board->sketches, 0, sizeof board->sketches);
    memset(board->counts, 0, sizeof board->counts);
    board->paced_ns = 0;
  }
  if (now_ns - board->paced_ns < PACE_NS) return board;
  board->paced_ns = now_ns;
  memcpy(board->paced, board->counts, sizeof board->paced);
  return board;
}

/* --- Token buckets --- */

/* Returns the tokens missing in the bucket at NOW_NS. LIMIT is its size, which PERIOD_NS fills. */
static uint64_t spent_of(const struct bucket *bucket, uint64_t limit, uint64_t period_ns,
                         uint64_t now_ns) {
  double filled = (double)limit * (double)(now_ns - bucket->at_ns) / (double)period_ns;
  if (filled >= (double)bucket->spent) return 0;
  return bucket->spent - (uint64_t)filled;
}

static uint64_t spent(const struct bucket *bucket, uint64_t limit, uint64_t now_ns) {
  return spent_of(bucket, limit, DAY_NS, now_ns);
}

static void draw(struct bucket *bucket, uint64_t limit, uint64_t amount, uint64_t now_ns) {
  bucket->spent = spent(bucket, limit, now_ns) + amount;
  bucket->at_ns = now_ns;
}

static uint32_t later_ms(uint64_t wait_ns) {
  uint64_t ms = wait_ns / NS_PER_MS;
  if (ms < LATER_MS_MIN) return LATER_MS_MIN;
  return ms < LATER_MS_MAX ? (uint32_t)ms : LATER_MS_MAX;
}

/* Returns whether AMOUNT may be drawn; a full bucket permits any amount. Else RET has the retry
   time. */
static bool has(const struct bucket *bucket, uint64_t limit, uint64_t amount, uint64_t now_ns,
                struct quota_verdict *ret) {
  uint64_t before = limit ? spent(bucket, limit, now_ns) : 0;
  if (before == 0 || before + amount <= limit) return true;
  double missing = (double)(before + amount - limit) / (double)limit;
  ret->retry_after_ms = later_ms((uint64_t)(missing * (double)DAY_NS));
  return false;
}

static bool is_open(const struct board *board, uint64_t now_ns, struct quota_verdict *ret) {
  if (now_ns >= board->closed_until_ns) return true;
  uint64_t wait_ms = (board->closed_until_ns - now_ns) / NS_PER_MS;
  *ret = (struct quota_verdict){board->closed_by, (uint32_t)wait_ms + 1};
  return false;
}

static bool take_bytes(const struct quotas *quotas, struct board *board, size_t bytes,
                       uint64_t now_ns, struct quota_verdict *ret) {
  const uint64_t *limits = quotas->limits.a_day;
  if (!is_open(board, now_ns, ret)) return false;
  ret->quota = QUOTA_REFUSALS;
  if (!has(&board->refusals, limits[QUOTA_REFUSALS], 1, now_ns, ret)) return false;
  ret->quota = QUOTA_BYTES;
  if (!has(&board->bytes, limits[QUOTA_BYTES], bytes, now_ns, ret)) return false;
  draw(&board->bytes, limits[QUOTA_BYTES], bytes, now_ns);
  return true;
}

bool quotas_take_bytes(struct quotas *quotas, const char *name, size_t bytes, uint64_t now_ns,
                       struct quota_verdict *ret) {
  pthread_mutex_lock(&quotas->lock);
  struct board *board = hear(quotas, name, now_ns);
  bool is_taken = board == NULL || take_bytes(quotas, board, bytes, now_ns, ret);
  if (!is_taken) {
    board->delayed[ret->quota]++;
    quotas->delayed[ret->quota]++;
  }
  pthread_mutex_unlock(&quotas->lock);
  return is_taken;
}

void quotas_count_refusal(struct quotas *quotas, const char *name, uint64_t now_ns) {
  pthread_mutex_lock(&quotas->lock);
  struct board *board = hear(quotas, name, now_ns);
  if (board != NULL) draw(&board->refusals, quotas->limits.a_day[QUOTA_REFUSALS], 1, now_ns);
  pthread_mutex_unlock(&quotas->lock);
}

bool quotas_take_renewal(struct quotas *quotas, const char *name, uint64_t life_ns,
                         uint64_t now_ns) {
  enum { UNIT = 1000 }; /* of one certificate: the bucket fills in smaller steps */
  pthread_mutex_lock(&quotas->lock);
  struct board *board = hear(quotas, name, now_ns);
  bool is_taken = board == NULL;
  if (board != NULL) {
    uint64_t limit = QUOTA_RENEWALS_A_LIFE * UNIT;
    uint64_t before = spent_of(&board->renewals, limit, life_ns, now_ns);
    is_taken = before + UNIT <= limit;
    if (is_taken) board->renewals = (struct bucket){before + UNIT, now_ns};
  }
  pthread_mutex_unlock(&quotas->lock);
  return is_taken;
}

/* --- Items of a batch --- */

/* Mixes all bits of VALUE into HASH. */
static uint64_t mix(uint64_t hash, uint64_t value) {
  uint64_t x = (hash ^ value) * 0x9e3779b97f4a7c15ULL + value;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
  return x ^ x >> 31;
}

static uint64_t hash_text(const struct quotas *quotas, uint64_t hash, const char *text) {
  return mix(hash, table_hash(text, strlen(text), quotas->secret[1]));
}

static void hash_modules(const struct quotas *quotas, const struct batch *batch, uint64_t *ret) {
  for (uint32_t i = 0; i < batch->module_count; i++) {
    const struct batch_module *module = &batch->modules[i];
    struct span id = module->id.len > 0 ? module->id : span_of_string(module->path);
    ret[i] = mix(quotas->secret[0] + module->kind, table_hash(id.data, id.len, quotas->secret[1]));
  }
}

/* A node is identified by its path from the root. */
static void hash_nodes(const struct quotas *quotas, const struct batch *batch,
                       const uint64_t *modules, uint64_t *ret) {
  for (uint32_t i = 0; i < batch->node_count; i++) {
    const struct batch_node *node = &batch->nodes[i];
    uint64_t above = node->parent != BATCH_NONE ? ret[node->parent] : quotas->secret[1];
    ret[i] = mix(mix(above, modules[node->module]), node->address + quotas->secret[0]);
  }
}

static void hash_series(const struct quotas *quotas, const struct batch *batch,
                        const uint64_t *modules, uint64_t *ret) {
  for (uint32_t i = 0; i < batch->thread_count; i++) {
    const struct batch_thread *thread = &batch->threads[i];
    const struct batch_target *target = &batch->targets[thread->target];
    uint64_t hash = hash_text(quotas, quotas->secret[0], target->service);
    if (target->module != BATCH_NONE) hash = mix(hash, modules[target->module]);
    for (uint32_t l = 0; l < target->label_count; l++)
      hash = hash_text(quotas, hash_text(quotas, hash, target->labels[l].name),
                       target->labels[l].value);
    ret[i] = hash_text(quotas, hash, thread->name);
  }
}

/* All hashes are in one allocation, which starts at RET->hashes[QUOTA_MODULES]. Returns false if
   memory runs out. */
static bool find_things(const struct quotas *quotas, const struct batch *batch,
                        struct things *ret) {
  size_t count = (size_t)batch->module_count + batch->node_count + batch->thread_count;
  uint64_t *all = malloc((count + 1) * sizeof *all);
  if (all == NULL) return false;
  *ret = (struct things){.counts = {[QUOTA_MODULES] = batch->module_count,
                                    [QUOTA_NODES] = batch->node_count,
                                    [QUOTA_SERIES] = batch->thread_count}};
  ret->hashes[QUOTA_MODULES] = all;
  ret->hashes[QUOTA_NODES] = all + batch->module_count;
  ret->hashes[QUOTA_SERIES] = ret->hashes[QUOTA_NODES] + batch->node_count;
  hash_modules(quotas, batch, all);
  hash_nodes(quotas, batch, all, ret->hashes[QUOTA_NODES]);
  hash_series(quotas, batch, all, ret->hashes[QUOTA_SERIES]);
  return true;
}

static bool is_too_fast(const struct board *board, enum quota quota, uint64_t limit) {
  uint64_t allowed = limit / PACE_SHARE > PACE_MIN ? limit / PACE_SHARE : PACE_MIN;
  return board->counts[quota] - board->paced[quota] > allowed;
}

/* Adds THINGS to copies of the sketches of BOARD. Returns the first exhausted quota that would
   grow, for the day or (RET_TOO_FAST) for this minute; or QUOTA_COUNT. */
static enum quota try_things(const struct quotas *quotas, const struct board *board,
                             const struct things *things, struct board *trial, bool *ret_too_fast) {
  memcpy(trial->sketches, board->sketches, sizeof trial->sketches);
  memcpy(trial->counts, board->counts, sizeof trial->counts);
  for (enum quota quota = QUOTA_SERIES; quota < QUOTA_COUNT; quota++) {
    uint64_t limit = quotas->limits.a_day[quota];
    bool is_more = false;
    for (uint32_t i = 0; i < things->counts[quota]; i++)
      is_more |= sketch_add(&trial->sketches[quota], things->hashes[quota][i]);
    if (!is_more) continue;
    *ret_too_fast = limit != 0 && board->counts[quota] < limit && is_too_fast(board, quota, limit);
    if (limit != 0 && (board->counts[quota] >= limit || *ret_too_fast)) return quota;
    trial->counts[quota] = sketch_estimate(&trial->sketches[quota]);
  }
  return QUOTA_COUNT;
}

static void close_for(struct board *board, enum quota quota, uint64_t now_ns) {
  board->closed_ns = board->closed_ns == 0 ? CLOSED_MIN_NS : 2 * board->closed_ns;
  if (board->closed_ns > CLOSED_MAX_NS) board->closed_ns = CLOSED_MAX_NS;
  board->closed_until_ns = now_ns + board->closed_ns;
  board->closed_by = quota;
}

static bool judge(struct quotas *quotas, struct board *board, const struct things *things,
                  uint64_t now_ns, struct quota_verdict *ret) {
  struct board trial;
  bool must_wait = false;
  enum quota quota = try_things(quotas, board, things, &trial, &must_wait);
  if (quota == QUOTA_COUNT) {
    memcpy(board->sketches, trial.sketches, sizeof trial.sketches);
    memcpy(board->counts, trial.counts, sizeof trial.counts);
    board->closed_ns = 0;
    return true;
  }
  if (must_wait) {
    board->closed_until_ns = board->paced_ns + PACE_NS;
    board->closed_by = quota;
    board->delayed[quota]++;
    quotas->delayed[quota]++;
    is_open(board, now_ns, ret);
    return false;
  }
  close_for(board, quota, now_ns);
  board->refused[quota]++;
  quotas->refused[quota]++;
  *ret = (struct quota_verdict){.quota = quota};
  return false;
}

bool quotas_take_batch(struct quotas *quotas, const char *name, const struct batch *batch,
                       uint64_t now_ns, struct quota_verdict *ret) {
  struct things things;
  if (!find_things(quotas, batch, &things)) return true;
  pthread_mutex_lock(&quotas->lock);
  struct board *board = hear(quotas, name, now_ns);
  bool is_taken = board == NULL || judge(quotas, board, &things, now_ns, ret);
  pthread_mutex_unlock(&quotas->lock);
  free(things.hashes[QUOTA_MODULES]);
  return is_taken;
}

/* --- State and metrics --- */

void quotas_state(struct quotas *quotas, const char *name, uint64_t now_ns,
                  struct quota_state *ret) {
  struct quota_state state = {.used = {0}};
  pthread_mutex_lock(&quotas->lock);
  const struct board *board = find(quotas, name);
  memcpy(state.limit, quotas->limits.a_day, sizeof state.limit);
  if (board != NULL) {
    if (now_ns - board->day_ns < DAY_NS) memcpy(state.used, board->counts, sizeof state.used);
    state.used[QUOTA_BYTES] = spent(&board->bytes, state.limit[QUOTA_BYTES], now_ns);
    state.used[QUOTA_REFUSALS] = spent(&board->refusals, state.limit[QUOTA_REFUSALS], now_ns);
    memcpy(state.refused, board->refused, sizeof state.refused);
    memcpy(state.delayed, board->delayed, sizeof state.delayed);
  }
  pthread_mutex_unlock(&quotas->lock);
  *ret = state;
}

static void print_totals(struct buf *ret, const char *name, const char *help,
                         const uint64_t *totals) {
  buf_printf(ret, "# HELP fleetprof_quota_%s %s\n# TYPE fleetprof_quota_%s counter\n", name, help,
             name);
  for (enum quota quota = 0; quota < QUOTA_COUNT; quota++)
    buf_printf(ret, "fleetprof_quota_%s{quota=\"%s\"} %" PRIu64 "\n", name, quota_name(quota),
               totals[quota]);
}

void quotas_metrics(struct quotas *quotas, struct buf *ret) {
  uint64_t refused[QUOTA_COUNT], delayed[QUOTA_COUNT], closed[QUOTA_COUNT] = {0};
  pthread_mutex_lock(&quotas->lock);
  memcpy(refused, quotas->refused, sizeof refused);
  memcpy(delayed, quotas->delayed, sizeof delayed);
  for (uint32_t i = 0; i < quotas->count; i++)
    if (quotas->boards[i]->closed_ns != 0) closed[quotas->boards[i]->closed_by]++;
  pthread_mutex_unlock(&quotas->lock);
  print_totals(ret, "refused_batches_total", "Batches refused for good, by the board's quota.",
               refused);
  print_totals(ret, "delayed_batches_total", "Batches told to come later, by the board's quota.",
               delayed);
  buf_append_string(ret, "# HELP fleetprof_quota_boards Boards whose last batch was refused.\n"
                         "# TYPE fleetprof_quota_boards gauge\n");
  for (enum quota quota = 0; quota < QUOTA_COUNT; quota++)
    buf_printf(ret, "fleetprof_quota_boards{quota=\"%s\"} %" PRIu64 "\n", quota_name(quota),
               closed[quota]);
}
