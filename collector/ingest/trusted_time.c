/* SPDX-License-Identifier: Apache-2.0 */
/* A board's clock is kept as an offset to the collector's time since boot, which cannot be set. A
   table of fixed size holds the boards heard last, each once, in one of WAYS slots chosen by a
   keyed hash of its name. So a board cannot choose its slot, and cannot have two.

   The time on which boards agree is computed when a board's clock differs from the one in its slot.
   It is an offset to the time since boot, so it holds for this boot, also while boards are away,
   and each reader of both detects a jump of the wall clock (clock_judge_ns).

   The clocks of boards without a battery resume at the time of their switch-off, and a site has one
   switch: all of them agree, and are wrong. So a board has no vote if its clock was, at this
   machine's start, before the last trusted time. */
#include "trusted_time.h"

#include "common/clock.h"
#include "common/sums.h"
#include "store/siphash.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define DAY_NS (24 * 3600 * NS_PER_SECOND)

/* The file is written again when an offset has moved by this. */
#define MOVED_NS NS_PER_SECOND
#define LATER_NS (3600 * NS_PER_SECOND)

/* Most boards reconnect within a minute of a collector's start. */
#define EARLY_NS (120 * NS_PER_SECOND)

enum { SLOTS = 1024, WAYS = 8 }; /* 24 KiB */

struct slot {
  uint64_t board;     /* hash of its name; 0: empty */
  uint64_t offset_ns; /* its wall time less the collector's time since boot; 0: implausible */
  uint64_t heard_ns;  /* the collector's time since boot */
};

struct trusted_time {
  pthread_mutex_t mutex;
  uint8_t key[SIPHASH_KEY_BYTES];
  struct slot slots[SLOTS];
  bool has_looked;
  uint64_t offset_ns;    /* wall time less time since boot, of the collector, at the last look */
  uint64_t steady_since; /* time since boot */
  struct clock_word word;
  uint64_t least_ns;    /* least offset of a board with a vote */
  uint64_t early_until; /* time since boot; 0: never early */
  uint64_t latest_ns;
  struct trusted_kept kept; /* as trusted_time_keep returned it last */
  uint64_t offsets[SLOTS];  /* scratch */
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
  clock_hear(&(struct clock_word){0, 0});
  pthread_mutex_destroy(&time->mutex);
  free(time);
}

/* Returns the slot of BOARD; else an empty slot, or the one heard longest ago. */
static struct slot *find_slot(struct trusted_time *time, uint64_t board) {
  struct slot *ways = &time->slots[(board >> 1) % (SLOTS / WAYS) * WAYS], *best = ways;
  for (unsigned i = 0; i < WAYS; i++) {
    if (ways[i].board == board) return &ways[i];
    if (ways[i].heard_ns < best->heard_ns) best = &ways[i];
  }
  return best;
}

static uint64_t apart(uint64_t a, uint64_t b) {
  return a > b ? a - b : b - a;
}

static int compare_offsets(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return a < b ? -1 : a > b;
}

/* Collects the offsets of boards with a vote, ascending. */
static unsigned collect_offsets(struct trusted_time *time) {
  unsigned count = 0;
  for (unsigned i = 0; i < SLOTS; i++)
    if (time->slots[i].offset_ns != 0 && time->slots[i].offset_ns >= time->least_ns)
      time->offsets[count++] = time->slots[i].offset_ns;
  qsort(time->offsets, count, sizeof *time->offsets, compare_offsets);
  return count;
}

/* Boards whose offsets lie within CLOCK_APART_NS of the first of them. */
struct cluster {
  unsigned first, count;
};

/* Returns the largest cluster of the offsets from FIRST up to END. */
static struct cluster find_cluster(const struct trusted_time *time, unsigned first, unsigned end) {
  struct cluster most = {first, 0};
  for (unsigned next = first; first < end; first++) {
    while (next < end && time->offsets[next] - time->offsets[first] < CLOCK_APART_NS) next++;
    if (next - first > most.count) most = (struct cluster){first, next - first};
  }
  return most;
}

/* Returns the number of clocks that agree with the collector's, itself included. */
static unsigned count_ours(const struct trusted_time *time, unsigned count) {
  unsigned ours = 1;
  for (unsigned i = 0; i < count; i++)
    ours += time->has_looked && apart(time->offsets[i], time->offset_ns) < CLOCK_APART_NS;
  return ours;
}

/* Returns whether MOST, of COUNT boards, has two or more, and more than any other cluster. */
static bool is_agreement(const struct trusted_time *time, struct cluster most, unsigned count) {
  unsigned end = most.first + most.count;
  if (most.count < 2) return false;
  if (find_cluster(time, 0, most.first).count >= most.count) return false;
  if (find_cluster(time, end, count).count >= most.count) return false;
  uint64_t middle_ns = time->offsets[most.first + most.count / 2];
  bool is_ours = time->has_looked && apart(middle_ns, time->offset_ns) < CLOCK_APART_NS;
  return is_ours || most.count > count_ours(time, count);
}

/* Returns whether at least one board still supports the agreement, or fewer than two have a
   vote. */
static bool is_still_said(const struct trusted_time *time, unsigned count) {
  bool is_said = count < 2;
  for (unsigned i = 0; i < count && !is_said; i++)
    is_said = apart(time->offsets[i], time->word.agreed_ns) < CLOCK_APART_NS;
  return is_said;
}

/* Notes whether boards agree with the wall clock, as it was at the last look: a jump since does not
   matter, since the clock before it is confirmed.  Publishes the word. */
static bool note_confirmed(struct trusted_time *time) {
  struct clock_word *word = &time->word;
  bool is_confirmed = time->has_looked && word->agreed_ns != 0 &&
                      apart(word->agreed_ns, time->offset_ns) < CLOCK_APART_NS;
  if (is_confirmed) word->confirmed_ns = time->offset_ns;
  clock_hear(word);
  return is_confirmed;
}

static void find_agreement(struct trusted_time *time) {
  unsigned count = collect_offsets(time);
  struct cluster most = find_cluster(time, 0, count);
  if (count >= 2) time->early_until = 0;
  if (is_agreement(time, most, count))
    time->word.agreed_ns = time->offsets[most.first + most.count / 2];
  else if (!is_still_said(time, count))
    time->word.agreed_ns = 0;
  note_confirmed(time);
}

void trusted_time_hear(struct trusted_time *time, const char *board, uint64_t walltime_ns,
                       uint64_t boot_ns) {
  const struct span name = {(const uint8_t *)board, strlen(board)};
  uint64_t hash = siphash(time->key, name) | 1; /* differs from an empty slot's */
  bool is_plausible = walltime_ns >= CLOCK_PLAUSIBLE_NS && walltime_ns > boot_ns;
  pthread_mutex_lock(&time->mutex);
  struct slot *slot = find_slot(time, hash);
  uint64_t before_ns = slot->offset_ns;
  *slot = (struct slot){hash, is_plausible ? walltime_ns - boot_ns : 0, boot_ns};
  if (apart(before_ns, slot->offset_ns) >= MOVED_NS) find_agreement(time);
  pthread_mutex_unlock(&time->mutex);
}

bool trusted_time_is_early(struct trusted_time *time, uint64_t walltime_ns, uint64_t now_ns,
                           uint64_t boot_ns) {
  if (walltime_ns < CLOCK_PLAUSIBLE_NS || apart(walltime_ns, now_ns) < CLOCK_APART_NS) return false;
  pthread_mutex_lock(&time->mutex);
  bool is_early = boot_ns < time->early_until;
  pthread_mutex_unlock(&time->mutex);
  return is_early;
}

void trusted_time_resume(struct trusted_time *time, const struct trusted_kept *kept,
                         const uint8_t boot_id[TRUST_BOOT_ID_BYTES], uint64_t boot_ns) {
  bool is_same_boot = memcmp(kept->boot_id, boot_id, TRUST_BOOT_ID_BYTES) == 0;
  pthread_mutex_lock(&time->mutex);
  time->kept = *kept;
  time->latest_ns = kept->latest_ns;
  uint64_t least_ns = sum_of(boot_ns, CLOCK_APART_NS);
  if (kept->latest_ns > least_ns) time->least_ns = kept->latest_ns - least_ns;
  if (is_same_boot && kept->offset_ns != 0 && kept->steady_since_ns <= boot_ns) {
    time->has_looked = true;
    time->offset_ns = kept->offset_ns;
    time->steady_since = kept->steady_since_ns;
    time->word = (struct clock_word){kept->agreed_ns, kept->confirmed_ns};
  } else if (kept->agreed_ns != 0) {
    time->early_until = sum_of(boot_ns, EARLY_NS);
  }
  memcpy(time->kept.boot_id, boot_id, TRUST_BOOT_ID_BYTES);
  clock_hear(&time->word);
  pthread_mutex_unlock(&time->mutex);
}

bool trusted_time_keep(struct trusted_time *time, struct trusted_kept *ret) {
  pthread_mutex_lock(&time->mutex);
  struct trusted_kept *kept = &time->kept, now = *kept;
  now.offset_ns = time->offset_ns;
  now.steady_since_ns = time->steady_since;
  now.agreed_ns = time->word.agreed_ns;
  now.confirmed_ns = time->word.confirmed_ns;
  now.latest_ns = time->latest_ns;
  bool has_changed = now.steady_since_ns != kept->steady_since_ns ||
                     apart(now.offset_ns, kept->offset_ns) >= MOVED_NS ||
                     apart(now.agreed_ns, kept->agreed_ns) >= MOVED_NS ||
                     apart(now.confirmed_ns, kept->confirmed_ns) >= MOVED_NS ||
                     apart(now.latest_ns, kept->latest_ns) >= LATER_NS;
  if (has_changed) *kept = now;
  *ret = now;
  pthread_mutex_unlock(&time->mutex);
  return has_changed;
}

/* Sets the second largest offset of all boards, 0 if there is none. Returns their number. */
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

/* Returns how long the wall clock has kept step with the time since boot. */
static uint64_t look_for_jumps(struct trusted_time *time, uint64_t wall_ns, uint64_t boot_ns) {
  uint64_t offset_ns = wall_ns > boot_ns ? wall_ns - boot_ns : 0;
  if (!time->has_looked || apart(offset_ns, time->offset_ns) >= CLOCK_APART_NS)
    time->steady_since = boot_ns;
  time->has_looked = true;
  time->offset_ns = offset_ns;
  return boot_ns - time->steady_since;
}

/* Trusts the earlier of the wall clock and OFFSET_NS, that of the second latest board. */
static void trust_boards(struct trusted_now *now, uint64_t offset_ns, uint64_t wall_ns,
                         uint64_t boot_ns) {
  uint64_t said_ns = sum_of(offset_ns, boot_ns);
  now->now_ns = said_ns < wall_ns ? said_ns : wall_ns;
  now->ahead_ns = wall_ns - now->now_ns;
  now->basis = now->ahead_ns >= CLOCK_APART_NS ? TRUST_BEHIND : TRUST_BOARDS;
}

struct trusted_now trusted_time_look(struct trusted_time *time, uint64_t wall_ns,
                                     uint64_t boot_ns) {
  struct trusted_now now = {TRUST_NOTHING, 0, 0, 0, 0};
  uint64_t offset_ns;
  pthread_mutex_lock(&time->mutex);
  now.steady_ns = look_for_jumps(time, wall_ns, boot_ns);
  now.boards = second_latest(time, &offset_ns);
  if (now.boards >= 2) {
    trust_boards(&now, offset_ns, wall_ns, boot_ns);
  } else if (now.steady_ns >= DAY_NS && wall_ns >= CLOCK_PLAUSIBLE_NS) {
    now.basis = TRUST_STEADY;
    now.now_ns = wall_ns;
  }
  if (now.now_ns < CLOCK_PLAUSIBLE_NS) now.basis = TRUST_NOTHING, now.now_ns = 0;
  bool is_sure = note_confirmed(time) || now.basis == TRUST_STEADY;
  if (is_sure && now.now_ns != 0) time->latest_ns = now.now_ns;
  pthread_mutex_unlock(&time->mutex);
  return now;
}

struct clock_word trusted_time_word(struct trusted_time *time) {
  pthread_mutex_lock(&time->mutex);
  struct clock_word word = time->word;
  pthread_mutex_unlock(&time->mutex);
  return word;
}
