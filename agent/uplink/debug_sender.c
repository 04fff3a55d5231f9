/* SPDX-License-Identifier: Apache-2.0 */
/* Sends requested files one after the other, in pieces.

   A file is searched when it is requested, because its target may be gone a moment later.  A few
   children search at a time.  A file is kept open until its turn.  A file that is not found yet
   does not delay others.  Before the first piece the whole file is hashed, in bounded steps per
   call.  So the collector can distinguish a file that changed during the transfer from a complete
   one; the file's size and times are compared before each piece for the same reason.

   The budget counts compressed bytes, in days of 24 hours from the start.  A board's calendar jumps
   when the board learns the time, but its monotonic clock does not.  A restart begins a new day.

   The memory of modules is bounded, and the oldest is evicted.  A later request for it is rejected,
   or the file is found by its build-id or the path in the request. */
#include "debug_sender.h"
#include "debug_file.h"

#include "common/arena.h"
#include "common/array.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/table.h"
#include "proto/compress.h"
#include "proto/limits.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

#define DAY_NS (24 * 3600 * NS_PER_SECOND)

enum {
  NOTES_MAX = 4096,
  NOTES_FIRST = 64,
  OPEN_PATH_BYTES_MAX = LIMIT_PATH_BYTES + 32, /* "/proc/PID/root" before a path */
  PIECE_BYTES = 16 << 10,                      /* at 1 kB/s, frames after a piece wait 16 s */
  HASH_BYTES_A_CALL = 2 << 20,                 /* about 10 ms */
  HASH_READ_BYTES = 32 << 10,
  SHA256_BYTES = 32,
  SEARCHES_MAX = 4, /* concurrent: each is a copy of the worker */
  WHY_BYTES = 160,
  LEVEL = 1,
};

_Static_assert((int)PIECE_BYTES <= (int)LIMIT_DEBUG_CHUNK_BYTES,
               "a piece is within what a peer accepts");

struct note {
  uint64_t key; /* hash of the id */
  uint8_t id[LIMIT_MODULE_ID_BYTES];
  uint8_t id_len;
  char *paths; /* path, NUL, open path, NUL */
};

struct wish {
  uint8_t id[LIMIT_MODULE_ID_BYTES];
  uint8_t id_len;
  uint64_t offset;
  char *paths; /* as in struct note, until the search begins; then NULL */
  struct debug_file file;
  int error; /* result of the search */
  char why[WHY_BYTES];
};

struct debug_sender {
  uint64_t budget, used, day_ns;
  uint64_t cpu_ns;
  struct note *notes;
  unsigned note_count, note_cap, note_oldest;
  struct debug_children children;
  struct wish wishes[LIMIT_DEBUG_WANTED]; /* the first is being sent if it is found */
  unsigned wish_count;
  EVP_MD_CTX *hash; /* of the first request while it is being hashed, else NULL */
  uint64_t hashed_bytes;
  bool is_hashed;
  uint8_t sha256[SHA256_BYTES];
  struct buf packed;
};

int debug_sender_open(uint64_t budget_bytes_day, struct debug_sender **ret) {
  struct debug_sender *sender = calloc(1, sizeof *sender);
  if (sender == NULL) return -ENOMEM;
  sender->budget = budget_bytes_day;
  sender->day_ns = clock_monotonic_ns();
  *ret = sender;
  return 0;
}

/* --- Modules seen --- */

static struct note *find_note(struct debug_sender *sender, struct span id) {
  uint64_t key = table_hash(id.data, id.len, 0);
  for (unsigned i = 0; i < sender->note_count; i++) {
    struct note *note = &sender->notes[i];
    if (note->key == key && span_is_equal(span_of(note->id, note->id_len), id)) return note;
  }
  return NULL;
}

/* Returns a free note, or the oldest one at the limit; NULL without memory. */
static struct note *make_note(struct debug_sender *sender) {
  if (sender->note_count == NOTES_MAX) {
    struct note *note = &sender->notes[sender->note_oldest];
    sender->note_oldest = (sender->note_oldest + 1) % NOTES_MAX;
    free(note->paths);
    return note;
  }
  struct note *notes =
      array_grow(sender->notes, sender->note_count, &sender->note_cap, NOTES_FIRST, sizeof *notes);
  if (notes == NULL) return NULL;
  sender->notes = notes;
  return &sender->notes[sender->note_count++];
}

static char *join_paths(const char *path, const char *open_path) {
  size_t len = strnlen(path, LIMIT_PATH_BYTES), open_len = strnlen(open_path, OPEN_PATH_BYTES_MAX);
  char *paths = calloc(1, len + 1 + open_len + 1);
  if (paths == NULL) return NULL;
  memcpy(paths, path, len);
  memcpy(paths + len + 1, open_path, open_len);
  return paths;
}

void debug_sender_note(struct debug_sender *sender, struct span id, const char *path,
                       const char *open_path) {
  if (id.len == 0 || id.len > LIMIT_MODULE_ID_BYTES) return;
  char *paths = join_paths(path, open_path);
  if (paths == NULL) return;
  struct note *note = find_note(sender, id);
  if (note != NULL) { /* newer: its process is alive */
    free(note->paths);
    note->paths = paths;
    return;
  }
  note = make_note(sender);
  if (note == NULL) {
    free(paths);
    return;
  }
  *note = (struct note){.key = table_hash(id.data, id.len, 0), .paths = paths};
  note->id_len = (uint8_t)id.len;
  memcpy(note->id, id.data, id.len);
}

/* --- Requests --- */

static void forget_hash(struct debug_sender *sender) {
  EVP_MD_CTX_free(sender->hash);
  sender->hash = NULL;
  sender->hashed_bytes = 0;
  sender->is_hashed = false;
}

static void drop_at(struct debug_sender *sender, unsigned index) {
  struct wish *wish = &sender->wishes[index];
  debug_file_close(&wish->file);
  free(wish->paths);
  if (index == 0) forget_hash(sender);
  sender->wish_count--;
  memmove(wish, wish + 1, (sender->wish_count - index) * sizeof *wish);
}

void debug_sender_drop(struct debug_sender *sender, struct span id) {
  for (unsigned i = sender->wish_count; i-- > 0;) {
    struct wish *wish = &sender->wishes[i];
    if (span_is_equal(span_of(wish->id, wish->id_len), id)) drop_at(sender, i);
  }
}

void debug_sender_reset(struct debug_sender *sender) {
  while (sender->wish_count > 0) drop_at(sender, sender->wish_count - 1);
}

void debug_sender_close(struct debug_sender *sender) {
  if (sender == NULL) return;
  debug_sender_reset(sender);
  forget_hash(sender);
  for (unsigned i = 0; i < sender->note_count; i++) free(sender->notes[i].paths);
  free(sender->notes);
  buf_fini(&sender->packed);
  free(sender);
}

static bool has_budget(struct debug_sender *sender) {
  uint64_t days = (clock_monotonic_ns() - sender->day_ns) / DAY_NS;
  if (days > 0) {
    sender->day_ns += days * DAY_NS;
    sender->used = 0;
  }
  return sender->used < sender->budget;
}

static bool is_found(const struct wish *wish) {
  return wish->error == 0 && wish->paths == NULL && wish->file.row == NULL;
}

static void begin_search(struct debug_sender *sender, struct wish *wish) {
  struct debug_module module = {.id = span_of(wish->id, wish->id_len),
                                .path = wish->paths,
                                .open_path = wish->paths + strlen(wish->paths) + 1};
  wish->error =
      debug_file_find(&sender->children, &module, &wish->file, wish->why, sizeof wish->why);
  free(wish->paths);
  wish->paths = NULL;
}

void debug_sender_look(struct debug_sender *sender) {
  unsigned searches = 0;
  debug_children_reap(&sender->children);
  for (unsigned i = 0; i < sender->wish_count; i++) {
    struct wish *wish = &sender->wishes[i];
    if (wish->file.row == NULL) continue;
    int error = debug_file_look(&wish->file, wish->why, sizeof wish->why);
    if (error == -EINPROGRESS) {
      searches++;
      continue;
    }
    wish->error = error;
    if (error == 0 && wish->offset >= wish->file.size_bytes) wish->offset = 0;
  }
  for (unsigned i = 0; i < sender->wish_count && searches < SEARCHES_MAX; i++) {
    struct wish *wish = &sender->wishes[i];
    if (wish->paths == NULL) continue;
    begin_search(sender, wish);
    if (wish->error == 0) searches++;
  }
}

static int add_wish(struct debug_sender *sender, const struct debug_wanted *wanted) {
  const struct note *note = find_note(sender, wanted->id);
  const char *path = note != NULL ? note->paths : wanted->path;
  const char *open_path = note != NULL ? path + strlen(path) + 1 : "";
  struct wish wish = {.id_len = (uint8_t)wanted->id.len, .offset = wanted->offset};
  wish.file.fd = wish.file.socket = -1;
  wish.paths = join_paths(path, open_path);
  if (wish.paths == NULL) return -ENOMEM;
  memcpy(wish.id, wanted->id.data, wanted->id.len);
  sender->wishes[sender->wish_count++] = wish;
  return 0;
}

int debug_sender_want(struct debug_sender *sender, const struct debug_wanted *wanted, char *why,
                      unsigned long why_len) {
  if (wanted->id.len == 0 || wanted->id.len > LIMIT_MODULE_ID_BYTES) {
    snprintf(why, why_len, "no such id");
    return -ENOENT;
  }
  if (!has_budget(sender)) {
    snprintf(why, why_len, "today's budget for debug files is used up (%llu bytes, --budget-debug)",
             (unsigned long long)sender->budget);
    return -EDQUOT;
  }
  debug_sender_drop(sender, wanted->id);
  if (sender->wish_count == LIMIT_DEBUG_WANTED) {
    snprintf(why, why_len, "too many files are wanted at once");
    return -EDQUOT;
  }
  int rc = add_wish(sender, wanted);
  if (rc < 0) {
    snprintf(why, why_len, "%s", strerror(-rc));
    return rc;
  }
  debug_sender_look(sender);
  const struct wish *wish = &sender->wishes[sender->wish_count - 1];
  rc = wish->error;
  if (rc == 0) return 0;
  snprintf(why, why_len, "%s", wish->why);
  drop_at(sender, sender->wish_count - 1);
  return rc;
}

/* --- Pieces --- */

static int begin_hash(struct debug_sender *sender) {
  if (sender->hash != NULL) return 0;
  sender->hash = EVP_MD_CTX_new();
  if (sender->hash == NULL) return -ENOMEM;
  return EVP_DigestInit_ex(sender->hash, EVP_sha256(), NULL) == 1 ? 0 : -ENOMEM;
}

static int end_hash(struct debug_sender *sender, const struct wish *wish) {
  if (EVP_DigestFinal_ex(sender->hash, sender->sha256, NULL) != 1) return -EIO;
  EVP_MD_CTX_free(sender->hash);
  sender->hash = NULL;
  sender->is_hashed = true;
  if (!wish->file.is_id_content) return 0;
  struct span id = {wish->id, wish->id_len};
  return span_is_equal(id, span_of(sender->sha256, SHA256_BYTES)) ? 0 : -ESTALE;
}

/* Continues hashing.  Returns 0 when the whole file is hashed, -EAGAIN if more remains,
   -EINPROGRESS while a child reads, or -errno. */
static int hash_some(struct debug_sender *sender, struct wish *wish) {
  uint8_t bytes[HASH_READ_BYTES];
  int rc = begin_hash(sender);
  for (uint64_t done = 0; rc == 0 && done < HASH_BYTES_A_CALL;) {
    ssize_t got = debug_file_read(&wish->file, sender->hashed_bytes, bytes, sizeof bytes);
    if (got < 0) rc = got == -EINTR ? 0 : (int)got;
    if (got < 0) continue;
    if (got == 0)
      return sender->hashed_bytes == wish->file.size_bytes ? end_hash(sender, wish) : -ESTALE;
    if (EVP_DigestUpdate(sender->hash, bytes, (size_t)got) != 1) rc = -EIO;
    sender->hashed_bytes += (uint64_t)got;
    done += (uint64_t)got;
  }
  return rc == 0 ? -EAGAIN : rc;
}

static int read_piece(struct wish *wish, struct arena *arena, struct span *ret) {
  uint64_t left = wish->file.size_bytes - wish->offset;
  size_t len = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
  uint8_t *bytes = arena_alloc(arena, len);
  if (bytes == NULL) return -ENOMEM;
  ssize_t got = debug_file_read(&wish->file, wish->offset, bytes, len);
  if (got < 0 || (got == 0 && len > 0)) return got < 0 ? (int)got : -ESTALE;
  *ret = span_of(bytes, (size_t)got);
  return 0;
}

static int make_piece(struct debug_sender *sender, struct arena *arena, struct debug_chunk *ret) {
  struct wish *wish = &sender->wishes[0];
  struct span raw;
  int rc = debug_file_check(&wish->file);
  if (rc == 0 && !sender->is_hashed) rc = hash_some(sender, wish);
  if (rc == 0) rc = read_piece(wish, arena, &raw);
  if (rc < 0) return rc;
  buf_clear(&sender->packed);
  rc = compress(raw, LEVEL, &sender->packed);
  if (rc < 0) return rc;
  ret->offset = wish->offset;
  ret->total = wish->file.size_bytes;
  ret->sha256 = span_of(sender->sha256, SHA256_BYTES);
  ret->raw_len = (uint32_t)raw.len;
  ret->zstd = buf_span(&sender->packed);
  wish->offset += raw.len;
  sender->used += ret->zstd.len;
  return 0;
}

static const char *explain(int error) {
  switch (error) {
  case -ESTALE:
    return "the file changed while it was read";
  case -EOVERFLOW:
    return "the file is over the limit (LIMIT_DEBUG_FILE_BYTES)";
  default:
    return strerror(-error);
  }
}

/* Returns the next request: one with a failed search, else the first that is found, which is moved
   to the head.  Returns wish_count if there is neither. */
static unsigned choose_wish(struct debug_sender *sender) {
  unsigned found = sender->wish_count;
  for (unsigned i = sender->wish_count; i-- > 0;) {
    if (sender->wishes[i].error != 0) return i;
    if (is_found(&sender->wishes[i])) found = i;
  }
  if (found == 0 || found == sender->wish_count) return found;
  struct wish wish = sender->wishes[0]; /* it is not hashed yet, because it is not found */
  sender->wishes[0] = sender->wishes[found];
  sender->wishes[found] = wish;
  return 0;
}

/* Creates a piece of the first request.  Returns as debug_sender_next. */
static int advance(struct debug_sender *sender, struct arena *arena, struct debug_chunk *ret,
                   const char **ret_why) {
  uint64_t start_ns = clock_cpu_ns();
  int rc = make_piece(sender, arena, ret);
  sender->cpu_ns += clock_cpu_ns() - start_ns;
  *ret_why = rc < 0 ? explain(rc) : NULL;
  if (rc == 0 && sender->wishes[0].offset >= ret->total) drop_at(sender, 0);
  return rc;
}

int debug_sender_next(struct debug_sender *sender, struct arena *arena, struct debug_chunk *ret,
                      const char **ret_why) {
  if (sender->wish_count == 0) {
    buf_fini(&sender->packed); /* the last piece has been sent */
    return -ENOENT;
  }
  if (!has_budget(sender)) return -EDQUOT;
  debug_sender_look(sender);
  unsigned index = choose_wish(sender);
  if (index == sender->wish_count) return -EINPROGRESS;
  const struct wish *wish = &sender->wishes[index];
  struct debug_chunk piece = {
      .id = span_of(arena_string(arena, wish->id, wish->id_len), wish->id_len)};
  const char *why = arena_string(arena, wish->why, strlen(wish->why));
  if (piece.id.data == NULL || why == NULL) return -ENOMEM;
  int rc = wish->error != 0 ? wish->error : advance(sender, arena, &piece, &why);
  if (rc == -EAGAIN || rc == -EINPROGRESS) return rc;
  if (rc < 0) drop_at(sender, index);
  if (rc == -ENOENT || rc == -EDQUOT) rc = -EIO; /* these codes have another meaning here */
  *ret = piece;
  *ret_why = why;
  return rc;
}

uint64_t debug_sender_cpu_ns(const struct debug_sender *sender) {
  return sender->cpu_ns;
}

uint64_t debug_sender_used(const struct debug_sender *sender) {
  return sender->used;
}
