/* SPDX-License-Identifier: Apache-2.0 */
/* A board's clock is kept as an offset to our time since boot, which nothing sets.  A table of
   fixed size holds the boards that were heard last, each once, in one of WAYS slots that a keyed
   hash of its name chooses: a board cannot choose its slot, and cannot have two. */
#include "trusted_time.h"

#include "common/clock.h"
#include "store/siphash.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define DAY_NS (24 * 3600 * NS_PER_SECOND)

/* More than any clock drifts in a minute, and less than any deletion is about. */
#define JUMP_NS (600 * NS_PER_SECOND)

/* 2024-01-01: no board ran this program earlier. */
#define PLAUSIBLE_FROM_NS (1704067200 * NS_PER_SECOND)

enum { SLOTS = 1024, WAYS = 8 }; /* 24 KiB */

struct slot {
  uint64_t board;     /* hash of its name; 0: empty */
  uint64_t offset_ns; /* its wall time less our time since boot; 0: no plausible one */
  uint64_t heard_ns;  /* our time since boot */
};

struct trusted_time {
  pthread_mutex_t mutex;
  uint8_t key[SIPHASH_KEY_BYTES];
  struct slot slots[SLOTS];
  bool has_looked;
  uint64_t offset_ns;    /* our wall time less our time since boot, at the last look */
  uint64_t steady_since; /* our time since boot */
};

struct trusted_time *trusted_time_new(void) {
  struct trusted_time *time = calloc(1, sizeof *time);
  if (time == NULL) return NULL;
  if (getrandom(time->key, sizeof time->key, 0) != (ssize_t)sizeof time->key) {
    free(time);
    return NULL;
  }
  pthread_mutex_init(&time->mutex, NULL);
  return time;
}

void trusted_time_free(struct trusted_time *time) {
  if (time == NULL) return;
  pthread_mutex_destroy(&time->mutex);
  free(time);
}

/* The slot of BOARD; else an empty one, or the one that was heard of longest ago. */
static struct slot *find_slot(struct trusted_time *time, uint64_t board) {
  struct slot *ways = &time->slots[(board >> 1) % (SLOTS / WAYS) * WAYS], *best = ways;
  for (unsigned i = 0; i < WAYS; i++) {
    if (ways[i].board == board) return &ways[i];
    if (ways[i].heard_ns < best->heard_ns) best = &ways[i];
  }
  return best;
}

void trusted_time_hear(struct trusted_time *time, const char *board, uint64_t walltime_ns,
                       uint64_t boot_ns) {
  const struct span name = {(const uint8_t *)board, strlen(board)};
  uint64_t hash = siphash(time->key, name) | 1; /* never that of an empty slot */
  bool is_plausible = walltime_ns >= PLAUSIBLE_FROM_NS && walltime_ns > boot_ns;
  pthread_mutex_lock(&time->mutex);
  *find_slot(time, hash) = (struct slot){hash, is_plausible ? walltime_ns - boot_ns : 0, boot_ns};
  pthread_mutex_unlock(&time->mutex);
}

/* Sets the second largest offset of all boards, 0 if there is none.  Returns how many there are. */
static unsigned second_latest(const struct trusted_time *time, uint64_t *ret_offset_ns) {
  uint64_t first = 0, second = 0;
  unsigned count = 0;
  for (unsigned i = 0; i < SLOTS; i++) {
    uint64_t offset_ns = time->slots[i].offset_ns;
    if (offset_ns != 0) count++;
    if (offset_ns > first) {
      second = first;
      first = offset_ns;
    } else if (offset_ns > second) {
      second = offset_ns;
    }
  }
  *ret_offset_ns = second;
  return count;
}

static uint64_t apart(uint64_t a, uint64_t b) {
  return a > b ? a - b : b - a;
}

/* How long the wall clock has moved along with the time since boot. */
static uint64_t look_for_jumps(struct trusted_time *time, uint64_t wall_ns, uint64_t boot_ns) {
  uint64_t offset_ns = wall_ns > boot_ns ? wall_ns - boot_ns : 0;
  if (!time->has_looked || apart(offset_ns, time->offset_ns) >= JUMP_NS)
    time->steady_since = boot_ns;
  time->has_looked = true;
  time->offset_ns = offset_ns;
  return boot_ns - time->steady_since;
}

struct trusted_now trusted_time_look(struct trusted_time *time, uint64_t wall_ns,
                                     uint64_t boot_ns) {
  struct trusted_now now = {TRUST_NOTHING, 0, 0, 0, 0};
  uint64_t offset_ns;
  pthread_mutex_lock(&time->mutex);
  now.steady_ns = look_for_jumps(time, wall_ns, boot_ns);
  now.boards = second_latest(time, &offset_ns);
  pthread_mutex_unlock(&time->mutex);
  if (now.boards < 2) {
    if (now.steady_ns < DAY_NS) return now;
    now.basis = TRUST_STEADY;
    now.now_ns = wall_ns;
    return now;
  }
  uint64_t told_ns = offset_ns > UINT64_MAX - boot_ns ? UINT64_MAX : offset_ns + boot_ns;
  now.now_ns = told_ns < wall_ns ? told_ns : wall_ns;
  now.ahead_ns = wall_ns - now.now_ns;
  now.basis = now.ahead_ns >= JUMP_NS ? TRUST_BEHIND : TRUST_BOARDS;
  return now;
}
