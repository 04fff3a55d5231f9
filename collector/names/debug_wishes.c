/* SPDX-License-Identifier: Apache-2.0 */
/* A board is asked for a module's file if it sees no file as good as a symbol table. If its best
   file is worse, or it has none, requests are suspended for a while: its file would be the same
   again.

   Every batch queries this, so answers are cached in memory. First the cache is queried for all
   modules of the batch, then the database for the rest, in one transaction. An entry is invalidated
   by all events that may change its answer:

     a file of the module arrives, or is read   the module's generation
     the board sends a piece of it              debug_wishes_forget
     the board cannot send it, or sent nonsense debug_wishes_forget
     time: a pause is over                      until_ns

   Some modules get no further sample: their program has ended, and so has the daemon that had its
   file. So a board that connects, or pings, is asked again for modules of its earlier batches. A
   board that has no file is asked again after a pause, which doubles up to an hour: a package may
   be installed, or a file system mounted, a moment later.

   All of that happens with the store locked, as do database queries. So no answer is cached after
   an event that would invalidate it. */
#include "debug_wishes.h"

#include "ask_turns.h"
#include "common/arena.h"
#include "common/clock.h"
#include "common/table.h"
#include "debug_catalogue.h"
#include "debug_code.h"
#include "debug_db.h"
#include "debug_partial.h"
#include "debug_store_parts.h"
#include "wish_notes.h"

#include <assert.h>
#include <errno.h>

enum {
  NOTED_S = 60 * 60,   /* interval of recording a module as used */
  WANTED_S = 60,       /* how long the answer "wanted" stays valid */
  PIECE_PAUSE_S = 10,  /* no further request while pieces arrive */
  LATER_S = 10 * 60,   /* pause while other boards are asked, plus up to as long at random */
  AGAIN_S = 15,        /* interval of checking a connected board again */
  LOOKED_MAX = 256,    /* modules of a board in one check, the last used first */
  PAUSE_S_MIN = 15,    /* after a board's first report that it has no file */
  PAUSE_DOUBLINGS = 8, /* until PAUSE_S_MAX */
  PAUSE_S_MAX = 60 * 60,
};

/* The board to ask, and the purpose. */
struct asker {
  const char *board;
  bool needs_code;
  struct wish_notes *notes;
};

/* One check of a board for modules to request again. */
struct second_look {
  struct debug_store *store;
  sqlite3 *db;
  const struct asker *asker;
  struct arena *arena;
  struct debug_wish *wishes;
  uint32_t count;
  int64_t now_s;
};

int debug_wishes_init(struct debug_wishes *wishes) {
  pthread_mutex_init(&wishes->lock, NULL);
  wishes->named = wish_notes_new();
  wishes->coded = wish_notes_new();
  wishes->turns = ask_turns_new();
  return wishes->named && wishes->coded && wishes->turns ? 0 : -ENOMEM;
}

void debug_wishes_fini(struct debug_wishes *wishes) {
  wish_notes_free(wishes->named);
  wish_notes_free(wishes->coded);
  ask_turns_free(wishes->turns);
  pthread_mutex_destroy(&wishes->lock);
}

void debug_wishes_forget(struct debug_wishes *wishes, const char *board, struct span id) {
  pthread_mutex_lock(&wishes->lock);
  wish_notes_remove(wishes->named, board, id);
  wish_notes_remove(wishes->coded, board, id);
  pthread_mutex_unlock(&wishes->lock);
}

static uint8_t *refusals_of(struct debug_wishes *wishes, const char *board, struct span id) {
  uint64_t seed = table_hash(board, strlen(board), 0);
  return &wishes->refusals[table_hash(id.data, id.len, seed) % DEBUG_REFUSAL_COUNTERS];
}

int64_t debug_wishes_pause_s(struct debug_wishes *wishes, const char *board, struct span id) {
  pthread_mutex_lock(&wishes->lock);
  uint8_t *refusals = refusals_of(wishes, board, id);
  int64_t pause_s = (int64_t)PAUSE_S_MIN << *refusals;
  if (*refusals < PAUSE_DOUBLINGS) ++*refusals;
  pthread_mutex_unlock(&wishes->lock);
  return pause_s < PAUSE_S_MAX ? pause_s : PAUSE_S_MAX;
}

/* ---- the database ---- */

/* Whether no stored file has the code and the board has not sent its file yet. */
static bool lacks_code(struct debug_store *store, sqlite3 *db, const struct asker *asker,
                       struct span id) {
  struct catalogue_file files[DEBUG_SOURCES_MAX];
  if (!asker->needs_code || catalogue_latest(db, asker->board, id, files) == 0) return false;
  int count = catalogue_sources(db, asker->board, id, files);
  return count > 0 && !debug_code_is_there(debug_store_folder(store), files, count);
}

/* Returns until when no file need be requested; 0: request it now. Wall time, seconds. */
static int64_t rest_until(struct debug_store *store, sqlite3 *db, const struct asker *asker,
                          struct span id, int64_t now_s) {
  struct catalogue_file file;
  if (catalogue_has_whole(db, asker->board, id) && !lacks_code(store, db, asker, id))
    return now_s + NOTED_S;
  if (catalogue_unread(db, asker->board, id, &file) == 0) return now_s + PIECE_PAUSE_S;
  int64_t until_s = catalogue_refused_until(db, asker->board, id);
  /* A later time was written when the clock was wrong. */
  if (until_s > now_s && until_s <= now_s + DEBUG_NO_BETTER_S) return until_s;
  return 0;
}

static void keep_note(struct debug_store *store, const struct asker *asker,
                      const struct debug_wish *wish, int64_t rest_s) {
  struct debug_wishes *wishes = debug_store_wishes(store);
  uint64_t now_ns = clock_monotonic_ns();
  struct wish_note note = {.until_ns = now_ns + (uint64_t)rest_s * NS_PER_SECOND,
                           .generation = debug_store_generation(store, wish->id),
                           .is_wanted = wish->is_wanted};
  pthread_mutex_lock(&wishes->lock);
  wish_notes_add(asker->notes, asker->board, wish->id, &note, now_ns);
  pthread_mutex_unlock(&wishes->lock);
}

/* Whether this board may be asked now. If not, the module is cached as not wanted, for a while. */
static bool has_turn(struct debug_store *store, const struct asker *asker,
                     const struct debug_wish *wish) {
  if (ask_turns_take(debug_store_wishes(store)->turns, wish->id, clock_monotonic_ns())) return true;
  uint64_t spread = table_hash(asker->board, strlen(asker->board), clock_monotonic_ns());
  keep_note(store, asker, wish, LATER_S + (int64_t)(spread % LATER_S));
  return false;
}

/* Requests the file, unless pieces of it are arriving. */
static void want(struct debug_store *store, sqlite3 *db, const struct asker *asker,
                 struct debug_wish *wish, int64_t now_s) {
  const struct debug_piece piece = {.board = asker->board, .id = wish->id};
  struct debug_partial partial;
  debug_partial_find(db, debug_store_folder(store), &piece, &partial);
  if (partial.touched_s == 0 && !has_turn(store, asker, wish)) return;
  int64_t pause_s = now_s - partial.touched_s;
  wish->is_wanted = pause_s < 0 || pause_s >= PIECE_PAUSE_S;
  wish->offset = partial.offset;
  if (partial.touched_s == 0) keep_note(store, asker, wish, WANTED_S);
}

static void ask_database(struct debug_store *store, sqlite3 *db, const struct asker *asker,
                         struct debug_wish *wish) {
  int64_t now_s = catalogue_now_s();
  if (catalogue_note_module(db, asker->board, wish->id, wish->path) != 0) return;
  int64_t until_s = rest_until(store, db, asker, wish->id, now_s);
  int64_t rest_s = until_s - now_s < NOTED_S ? until_s - now_s : NOTED_S;
  if (until_s > 0)
    keep_note(store, asker, wish, rest_s);
  else
    want(store, db, asker, wish, now_s);
}

/* ---- queries ---- */

static bool is_usable(const struct asker *asker, const struct debug_wish *wish) {
  return strlen(asker->board) <= LIMIT_NAME_BYTES && wish->id.len > 0 &&
         wish->id.len <= LIMIT_MODULE_ID_BYTES;
}

/* Answers WISH from the cache. Returns whether it had an entry. */
static bool recall(struct debug_store *store, const struct asker *asker, struct debug_wish *wish,
                   uint64_t now_ns) {
  const struct wish_note *note = wish_notes_find(asker->notes, asker->board, wish->id);
  if (note == NULL || now_ns >= note->until_ns) return false;
  if (note->generation != debug_store_generation(store, wish->id)) return false;
  wish->is_wanted = note->is_wanted;
  return true;
}

/* Answers cached modules. Returns how many of COUNT remain; their indexes are in LEFT. */
static uint32_t recall_all(struct debug_store *store, const struct asker *asker,
                           struct debug_wish *wishes, uint32_t count, uint32_t *left) {
  pthread_mutex_t *lock = &debug_store_wishes(store)->lock;
  uint64_t now_ns = clock_monotonic_ns();
  uint32_t left_count = 0;
  pthread_mutex_lock(lock);
  for (uint32_t i = 0; i < count; i++) {
    wishes[i].is_wanted = false;
    wishes[i].offset = 0;
    if (is_usable(asker, &wishes[i]) && !recall(store, asker, &wishes[i], now_ns))
      left[left_count++] = i;
  }
  pthread_mutex_unlock(lock);
  return left_count;
}

static void ask_about(struct debug_store *store, const struct asker *asker,
                      struct debug_wish *wishes, const uint32_t *left, uint32_t count) {
  sqlite3 *db = debug_store_lock(store);
  bool is_begun = debug_db_run(db, "BEGIN IMMEDIATE", "") >= 0;
  for (uint32_t i = 0; i < count; i++) ask_database(store, db, asker, &wishes[left[i]]);
  bool is_lost = is_begun && debug_db_run(db, "COMMIT", "") < 0;
  if (is_lost) debug_db_run(db, "ROLLBACK", "");
  for (uint32_t i = 0; i < count && is_lost; i++) /* their use was not recorded */
    debug_wishes_forget(debug_store_wishes(store), asker->board, wishes[left[i]].id);
  debug_store_unlock(store);
}

void debug_wishes_ask(struct debug_store *store, const char *board, bool needs_code,
                      struct debug_wish *wishes, uint32_t count) {
  struct debug_wishes *own = debug_store_wishes(store);
  const struct asker asker = {board, needs_code, needs_code ? own->coded : own->named};
  uint32_t left[DEBUG_WISHES_MAX];
  assert(count <= DEBUG_WISHES_MAX);
  uint32_t left_count = recall_all(store, &asker, wishes, count, left);
  if (left_count > 0) ask_about(store, &asker, wishes, left, left_count);
}

/* ---- repeated requests ---- */

/* Returns whether a connected board is due for a check, and records the check. */
static bool is_due(struct debug_wishes *wishes, const struct asker *asker) {
  const struct span all = span_of("", 0); /* no module has an empty id */
  uint64_t now_ns = clock_monotonic_ns();
  struct wish_note next = {.until_ns = now_ns + AGAIN_S * NS_PER_SECOND};
  pthread_mutex_lock(&wishes->lock);
  const struct wish_note *note = wish_notes_find(asker->notes, asker->board, all);
  bool is_over = note == NULL || now_ns >= note->until_ns;
  if (is_over) wish_notes_add(asker->notes, asker->board, all, &next, now_ns);
  pthread_mutex_unlock(&wishes->lock);
  return is_over;
}

static bool look_at(void *context, struct span id, const char *path) {
  struct second_look *look = context;
  struct debug_wish wish = {.id = id, .path = path};
  uint32_t left;
  if (recall_all(look->store, look->asker, &wish, 1, &left) > 0 &&
      rest_until(look->store, look->db, look->asker, id, look->now_s) == 0)
    want(look->store, look->db, look->asker, &wish, look->now_s);
  if (!wish.is_wanted) return true;
  char *kept_id = arena_string(look->arena, id.data, id.len);
  wish.path = arena_string(look->arena, path, strlen(path));
  if (kept_id == NULL || wish.path == NULL) return false;
  wish.id = span_of(kept_id, id.len);
  look->wishes[look->count++] = wish;
  return look->count < DEBUG_WISHES_MAX;
}

uint32_t debug_wishes_ask_again(struct debug_store *store, const char *board, bool is_new,
                                struct arena *arena, struct debug_wish wishes[DEBUG_WISHES_MAX]) {
  struct debug_wishes *own = debug_store_wishes(store);
  const struct asker asker = {board, false, own->named};
  if (strlen(board) > LIMIT_NAME_BYTES || (!is_due(own, &asker) && !is_new)) return 0;
  struct second_look look = {.store = store,
                             .db = debug_store_lock(store),
                             .asker = &asker,
                             .arena = arena,
                             .wishes = wishes,
                             .now_s = catalogue_now_s()};
  catalogue_each_unrefused(look.db, board, look.now_s, LOOKED_MAX, look_at, &look);
  debug_store_unlock(store);
  return look.count;
}
