/* SPDX-License-Identifier: Apache-2.0 */
/* A board's clock is kept as an offset to the collector's time since boot, which cannot be set. A
   table of fixed size holds the boards heard last, each once, in one of WAYS slots chosen by a
   keyed hash of its name. So a board cannot choose its slot, and cannot have two.

   A slot votes while it was heard of late: a connected board pings each minute. The time since boot
   stands still in a paused virtual machine, so an older slot may be of a time before the pause.

   The time on which boards agree is computed when a board's clock differs from the one in its slot,
   and with each look. It is an offset to the time since boot, so it holds for this boot, also while
   boards are away, and each reader of both detects a jump of the wall clock (clock_judge_ns).

   The clocks of boards without a battery resume at the time of their switch-off, and a site has one
   switch: all of them agree, and are wrong. So a board has no vote if its clock was, at this
   machine's start, before the last trusted time. That time can be wrong too: it was of a wall clock
   that was ahead, if the wall clock and more boards than have a vote are before it. */
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

/* A slot that was heard this long ago has no vote. */
#define VOTE_NS (900 * NS_PER_SECOND)

/* Above FEW clocks the agreement is computed once per this, and when it is read: a ping must not
   cost a sort of the whole table. */
#define FIND_NS NS_PER_SECOND

/* Longer than a fleet takes to set its clocks, and short against what is deleted by age. */
#define AGAINST_NS (120 * NS_PER_SECOND)

enum { SLOTS = 1024, WAYS = 8, FEW = 16 }; /* 24 KiB */

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
  uint64_t least_ns;      /* least offset of a board with a vote */
  uint64_t settled_at;    /* time since boot, when boards that agreed before the start are back */
  bool is_of_other_boot;  /* the agreement before the start */
  uint64_t now_ns;        /* the latest time since boot that was given */
  uint64_t against_since; /* boards have agreed on another time than the wall clock since; 0: not */
  uint64_t found_ns;      /* NOW_NS when the agreement was computed */
  bool is_dirty;          /* a clock has moved since */
  unsigned boards, count; /* with a vote; with the collector's clock, if it is known */
  unsigned voiceless;     /* before LEAST_NS */
  uint64_t latest_ns;
  struct trusted_kept kept;    /* as trusted_time_keep returned it last */
  uint64_t offsets[SLOTS + 1]; /* scratch: COUNT clocks that count, ascending */
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

/* Returns what differs from an empty slot's. */
static uint64_t hash_of(const struct trusted_time *time, const char *board) {
  const struct span name = {(const uint8_t *)board, strlen(board)};
  return siphash(time->key, name) | 1;
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

/* Clocks whose offsets lie within CLOCK_APART_NS of the first of them. */
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

static bool has_vote(const struct trusted_time *time, const struct slot *slot) {
  return slot->offset_ns != 0 && sum_of(slot->heard_ns, VOTE_NS) > time->now_ns;
}

/* Returns whether the last trusted time was wrong: it is after the wall clock and a cluster of
   boards, the first BEFORE of COUNT, that are more than those after it. */
static bool is_least_wrong(const struct trusted_time *time, unsigned before, unsigned count) {
  unsigned most = find_cluster(time, 0, before).count;
  return time->has_looked && time->offset_ns < time->least_ns && most >= 2 && most > count - before;
}

/* Collects the offsets of boards with a vote and that of the wall clock. */
static void collect_offsets(struct trusted_time *time) {
  unsigned count = 0, before = 0, at;
  for (unsigned i = 0; i < SLOTS; i++)
    if (has_vote(time, &time->slots[i])) time->offsets[count++] = time->slots[i].offset_ns;
  qsort(time->offsets, count, sizeof *time->offsets, compare_offsets);
  while (before < count && time->offsets[before] < time->least_ns) before++;
  if (is_least_wrong(time, before, count)) before = 0;
  time->voiceless = before;
  time->boards = time->count = count - before;
  memmove(time->offsets, time->offsets + before, time->count * sizeof *time->offsets);
  if (!time->has_looked) return;
  for (at = time->count++; at > 0 && time->offsets[at - 1] > time->offset_ns; at--)
    time->offsets[at] = time->offsets[at - 1];
  time->offsets[at] = time->offset_ns;
}

static bool is_ours(const struct trusted_time *time, uint64_t offset_ns) {
  return time->has_looked && apart(offset_ns, time->offset_ns) < CLOCK_APART_NS;
}

/* Returns the largest cluster of the clocks before FIRST and of those from END on. */
static unsigned count_others(const struct trusted_time *time, unsigned first, unsigned end) {
  unsigned before = find_cluster(time, 0, first).count;
  unsigned after = find_cluster(time, end, time->count).count;
  return before > after ? before : after;
}

/* Returns whether two boards or more agree, and are more than the clocks of any other time; sets
   their time. */
static bool do_boards_agree(const struct trusted_time *time, uint64_t *ret_ns) {
  struct cluster most = find_cluster(time, 0, time->count);
  unsigned end = most.first + most.count;
  bool has_ours = time->has_looked && most.count > 0 &&
                  time->offsets[most.first] <= time->offset_ns &&
                  time->offset_ns <= time->offsets[end - 1];
  if (most.count - has_ours < 2) return false;
  *ret_ns = time->offsets[most.first + most.count / 2];
  return count_others(time, most.first, end) < most.count;
}

/* Returns whether the agreement of before holds: no two clocks or more of another time are as many
   as its own, and it has one of its own if two boards are heard. */
static bool does_still_hold(const struct trusted_time *time) {
  unsigned first = 0, end;
  uint64_t agreed_ns = time->word.agreed_ns;
  while (first < time->count && time->offsets[first] < agreed_ns &&
         agreed_ns - time->offsets[first] >= CLOCK_APART_NS)
    first++;
  for (end = first; end < time->count; end++)
    if (apart(time->offsets[end], agreed_ns) >= CLOCK_APART_NS) break;
  unsigned others = count_others(time, first, end), own = end - first;
  return others >= 2 ? others < own : own > 0 || time->boards < 2;
}

/* Returns whether boards that agreed before this boot may not be back yet. */
static bool is_new_boot(const struct trusted_time *time) {
  return time->is_of_other_boot && time->now_ns < time->settled_at;
}

/* Boards whose clocks are set at the same moment can be most of those heard, for a moment. So their
   agreement withdraws the confirmation of the wall clock only when it has stood for AGAINST_NS. */
static void weigh_contradiction(struct trusted_time *time) {
  if (!time->has_looked || is_ours(time, time->word.agreed_ns)) {
    time->against_since = 0;
  } else if (time->against_since == 0) {
    time->against_since = sum_of(time->now_ns, 1); /* 0: none */
  } else if (time->now_ns - time->against_since >= AGAINST_NS) {
    time->word.confirmed_ns = 0;
  }
}

/* Finds and publishes the word. Until boards that agreed in this boot are back, those who come
   first do not end their agreement. The wall clock is as it was at the last look: a jump since does
   not matter, since the clock before it is confirmed. Returns whether it is. */
static bool find_agreement(struct trusted_time *time) {
  uint64_t agreed_ns;
  bool is_settling = time->now_ns < time->settled_at;
  bool is_kept = is_settling && time->word.agreed_ns != 0 && !time->is_of_other_boot;
  collect_offsets(time);
  time->found_ns = time->now_ns;
  time->is_dirty = is_settling;
  if (!is_kept && do_boards_agree(time, &agreed_ns)) {
    time->word.agreed_ns = agreed_ns;
    weigh_contradiction(time);
  } else if (!is_kept && !does_still_hold(time)) {
    time->word.agreed_ns = 0;
  }
  bool is_confirmed = time->word.agreed_ns != 0 && is_ours(time, time->word.agreed_ns);
  if (is_confirmed) time->word.confirmed_ns = time->offset_ns;
  clock_hear(&time->word);
  return is_confirmed;
}

static void find_if_due(struct trusted_time *time) {
  bool is_due = time->count <= FEW || time->now_ns - time->found_ns >= FIND_NS;
  if (time->is_dirty && is_due) find_agreement(time);
}

static void pass_time(struct trusted_time *time, uint64_t boot_ns) {
  if (boot_ns > time->now_ns) time->now_ns = boot_ns;
}

void trusted_time_hear(struct trusted_time *time, const char *board, uint64_t walltime_ns,
                       uint64_t boot_ns) {
  uint64_t hash = hash_of(time, board);
  bool is_plausible = walltime_ns >= CLOCK_PLAUSIBLE_NS && walltime_ns > boot_ns;
  pthread_mutex_lock(&time->mutex);
  struct slot *slot = find_slot(time, hash), before = *slot;
  pass_time(time, boot_ns);
  *slot = (struct slot){hash, is_plausible ? walltime_ns - boot_ns : 0, boot_ns};
  bool is_new = has_vote(time, slot) && (before.board != hash || !has_vote(time, &before));
  if (is_new || apart(before.offset_ns, slot->offset_ns) >= MOVED_NS) time->is_dirty = true;
  find_if_due(time);
  pthread_mutex_unlock(&time->mutex);
}

/* Without BOARD an agreement that fewer than two others have supported is none. */
void trusted_time_forget(struct trusted_time *time, const char *board) {
  uint64_t hash = hash_of(time, board);
  unsigned others = 0;
  pthread_mutex_lock(&time->mutex);
  struct slot *slot = find_slot(time, hash);
  if (slot->board == hash) {
    bool is_of_agreement = apart(slot->offset_ns, time->word.agreed_ns) < CLOCK_APART_NS;
    *slot = (struct slot){0, 0, 0};
    for (unsigned i = 0; i < SLOTS; i++)
      others += apart(time->slots[i].offset_ns, time->word.agreed_ns) < CLOCK_APART_NS;
    if (is_of_agreement && others < 2) time->word = (struct clock_word){0, 0};
    find_agreement(time);
  }
  pthread_mutex_unlock(&time->mutex);
}

bool trusted_time_is_early(struct trusted_time *time, uint64_t walltime_ns, uint64_t now_ns,
                           uint64_t boot_ns) {
  if (walltime_ns < CLOCK_PLAUSIBLE_NS || apart(walltime_ns, now_ns) < CLOCK_APART_NS) return false;
  pthread_mutex_lock(&time->mutex);
  pass_time(time, boot_ns);
  bool is_early = is_new_boot(time);
  if (is_early) find_if_due(time);
  if (apart(sum_of(time->word.agreed_ns, boot_ns), walltime_ns) < CLOCK_APART_NS) is_early = false;
  pthread_mutex_unlock(&time->mutex);
  return is_early;
}

void trusted_time_resume(struct trusted_time *time, const struct trusted_kept *kept,
                         const uint8_t boot_id[TRUST_BOOT_ID_BYTES], uint64_t boot_ns) {
  bool is_same_boot = memcmp(kept->boot_id, boot_id, TRUST_BOOT_ID_BYTES) == 0;
  pthread_mutex_lock(&time->mutex);
  time->kept = *kept;
  time->latest_ns = kept->latest_ns;
  time->now_ns = boot_ns;
  uint64_t least_ns = sum_of(boot_ns, CLOCK_APART_NS);
  if (kept->latest_ns > least_ns) time->least_ns = kept->latest_ns - least_ns;
  if (is_same_boot && kept->offset_ns != 0 && kept->steady_since_ns <= boot_ns) {
    time->has_looked = true;
    time->offset_ns = kept->offset_ns;
    time->steady_since = kept->steady_since_ns;
    time->word = (struct clock_word){kept->agreed_ns, kept->confirmed_ns};
  } else if (kept->agreed_ns != 0) {
    time->is_of_other_boot = true;
  }
  if (kept->agreed_ns != 0) time->settled_at = sum_of(boot_ns, EARLY_NS);
  memcpy(time->kept.boot_id, boot_id, TRUST_BOOT_ID_BYTES);
  clock_hear(&time->word);
  pthread_mutex_unlock(&time->mutex);
}

bool trusted_time_keep(struct trusted_time *time, struct trusted_kept *ret) {
  pthread_mutex_lock(&time->mutex);
  if (time->is_dirty) find_agreement(time);
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

/* Sets the second largest offset of all boards, or of those with a vote; UINT64_MAX if there is
   none.  Returns their number. */
static unsigned second_latest(const struct trusted_time *time, bool is_of_votes,
                              uint64_t *ret_offset_ns) {
  uint64_t first = 0, second = 0;
  unsigned count = 0;
  for (unsigned i = 0; i < SLOTS; i++) {
    const struct slot *slot = &time->slots[i];
    if (slot->offset_ns == 0 || (is_of_votes && !has_vote(time, slot))) continue;
    count++;
    if (slot->offset_ns > first) {
      second = first;
      first = slot->offset_ns;
    } else if (slot->offset_ns > second) {
      second = slot->offset_ns;
    }
  }
  *ret_offset_ns = count >= 2 ? second : UINT64_MAX;
  return count;
}

/* Sets the least of the second latest board's offset and the agreed one; UINT64_MAX if there is
   none. If fewer than two boards were heard of late, those before count. Returns their number. */
static unsigned least_said(const struct trusted_time *time, uint64_t *ret_offset_ns) {
  unsigned boards = second_latest(time, true, ret_offset_ns);
  if (boards < 2) boards = second_latest(time, false, ret_offset_ns);
  if (time->word.agreed_ns != 0 && time->word.agreed_ns < *ret_offset_ns)
    *ret_offset_ns = time->word.agreed_ns;
  return boards;
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

/* Trusts the earlier of the wall clock and OFFSET_NS, which boards say. */
static void trust_boards(struct trusted_now *now, uint64_t offset_ns, uint64_t wall_ns,
                         uint64_t boot_ns) {
  uint64_t said_ns = sum_of(offset_ns, boot_ns);
  now->now_ns = said_ns < wall_ns ? said_ns : wall_ns;
  now->ahead_ns = wall_ns - now->now_ns;
  now->basis = now->ahead_ns >= CLOCK_APART_NS ? TRUST_BEHIND : TRUST_BOARDS;
}

struct trusted_now trusted_time_look(struct trusted_time *time, uint64_t wall_ns,
                                     uint64_t boot_ns) {
  struct trusted_now now = {0};
  uint64_t offset_ns;
  pthread_mutex_lock(&time->mutex);
  pass_time(time, boot_ns);
  now.steady_ns = look_for_jumps(time, wall_ns, boot_ns);
  bool is_confirmed = find_agreement(time);
  now.voiceless = time->voiceless;
  now.boards = least_said(time, &offset_ns);
  if (offset_ns != UINT64_MAX) {
    trust_boards(&now, offset_ns, wall_ns, boot_ns);
  } else if (now.steady_ns >= DAY_NS && wall_ns >= CLOCK_PLAUSIBLE_NS) {
    now.basis = TRUST_STEADY;
    now.now_ns = wall_ns;
  }
  if (now.now_ns < CLOCK_PLAUSIBLE_NS || is_new_boot(time)) {
    now.basis = TRUST_NOTHING;
    now.now_ns = 0;
  }
  bool is_sure = is_confirmed || now.basis == TRUST_STEADY;
  if (is_sure && now.now_ns != 0) time->latest_ns = now.now_ns;
  pthread_mutex_unlock(&time->mutex);
  return now;
}

struct clock_word trusted_time_word(struct trusted_time *time) {
  pthread_mutex_lock(&time->mutex);
  if (time->is_dirty) find_agreement(time);
  struct clock_word word = time->word;
  pthread_mutex_unlock(&time->mutex);
  return word;
}
