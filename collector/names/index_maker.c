/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a trusted index from a whole debug file.

   Failures are of two kinds that must be kept apart. The file's fault: it is malformed, crashed the
   worker, or ran into a limit. It is then bad for ever and its bytes are deleted. The machine's
   fault: no process, no space, a worker killed from outside or without CPU time. Then nothing is
   recorded and the next query tries again. The kernel may also kill a worker because this very file
   used up memory. So the second kill in a row counts as the file's fault. A stalled worker never
   does; after a few stalls the file waits for the collector's next start.

   The symbol table is read first and alone: that takes milliseconds, and its sender waits for it.
   The debug information is read later, in the background (deep_reader.h). If it fails, the names of
   the symbol table stay as they are, even if there are none.

   The worker's output is verified in full before it gets its name, since the file may have
   compromised the worker. */
#include "index_maker.h"

#include "debug_store_dwarf.h"
#include "index_bytes.h"
#include "reader_counts.h"
#include "rival_file.h"
#include "supplements.h"
#include "symbol/index_file.h"
#include "symbol/nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES_MAX = 2 };

struct draft {
  char path[600]; /* the index's path with a suffix */
  int elf, index; /* descriptors */
};

/* The inputs of an index other than the file itself. */
struct recipe {
  enum index_depth depth;
  int supplements[WORKER_SUPPLEMENTS_MAX]; /* descriptors */
  unsigned supplement_count;
};

static int open_draft(const struct debug_file *file, const char *index_path, struct draft *draft) {
  static _Atomic unsigned count; /* two threads may make the same index */
  snprintf(draft->path, sizeof draft->path, "%s.new%u", index_path,
           atomic_fetch_add_explicit(&count, 1, memory_order_relaxed));
  draft->elf = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (draft->elf < 0) return -errno;
  draft->index = open(draft->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (draft->index >= 0) return 0;
  int error = -errno;
  close(draft->elf);
  return error;
}

static void close_draft(struct draft *draft) {
  unlink(draft->path); /* already renamed if it was accepted */
  close(draft->index);
  close(draft->elf);
}

static int run_worker(struct nursery *nursery, const struct debug_file *file, struct draft *draft,
                      const struct recipe *recipe, struct nursery_result *ret) {
  const struct worker_job job = {.key = span_of(file->sha256, sizeof file->sha256),
                                 .elf = draft->elf,
                                 .index = draft->index,
                                 .depth = recipe->depth,
                                 .supplements = recipe->supplements,
                                 .supplement_count = recipe->supplement_count};
  for (int i = 0; i < TRIES_MAX; i++) {
    if (ftruncate(draft->index, 0) != 0 || lseek(draft->index, 0, SEEK_SET) != 0) return -errno;
    int error = nursery_run(nursery, &job, ret);
    reader_counts_add(ret, error);
    if (error == 0 && ret->outcome == NURSERY_TIMED_OUT) return -ETIMEDOUT;
    if (error == 0 && ret->outcome == NURSERY_GIVEN_UP) return -ETIME;
    if (error != 0 || ret->outcome != NURSERY_KILLED) return error;
  }
  return 0;
}

/* Returns the bytes of all files that the index is made from. */
static uint64_t count_bytes(const struct draft *draft, const struct recipe *recipe) {
  struct stat status;
  uint64_t bytes = fstat(draft->elf, &status) == 0 ? (uint64_t)status.st_size : 0;
  for (unsigned i = 0; i < recipe->supplement_count; i++)
    if (fstat(recipe->supplements[i], &status) == 0) bytes += (uint64_t)status.st_size;
  return bytes;
}

/* Verifies the draft, made from FROM bytes, and renames it to its final path. If its names would
   exceed the limit for FROM, WHY has the reason instead. */
static int accept_draft(const char *index_path, struct draft *draft, uint64_t from,
                        char why[LIMIT_VALUE_BYTES]) {
  struct index_file index;
  if (fdatasync(draft->index) != 0) return -errno;
  int error = index_file_open(draft->path, &index);
  if (error != 0) return error;
  error = symbol_index_verify(&index.index);
  uint64_t bytes = index_texts_bytes(&index.index.texts), max = index_bytes_names_max(from);
  if (bytes > max)
    snprintf(why, LIMIT_VALUE_BYTES,
             "its names would take %llu bytes, more than the file (at most %llu)",
             (unsigned long long)bytes, (unsigned long long)max);
  index_file_close(&index);
  if (error == 0 && bytes <= max && rename(draft->path, index_path) != 0) error = -errno;
  return error;
}

static bool is_files_fault(int status) {
  return status == -EBADMSG || status == -EOVERFLOW || status == -ENOMEM || status == -EPROTO;
}

/* The result after the symbols were read. */
struct verdict {
  enum debug_quality quality;
  const char *reason;
};

static struct verdict judge_symbols(const struct worker_reply *reply) {
  if (reply->is_map) return (struct verdict){DEBUG_MAP, ""};
  if (reply->has_symtab) return (struct verdict){DEBUG_SYMTAB, ""};
  if (reply->has_names && reply->reason[0] != '\0')
    return (struct verdict){DEBUG_DYNSYM, reply->reason};
  if (reply->has_names)
    return (struct verdict){DEBUG_DYNSYM, "stripped: only exported functions have names"};
  if (reply->symbol_count == 0)
    return (struct verdict){DEBUG_BOUNDS, "stripped: not even where functions begin is known"};
  return (struct verdict){DEBUG_BOUNDS,
                          "stripped: where functions begin is known, not their names"};
}

static int record_identity(struct debug_store *store, const struct debug_file *file,
                           const struct worker_reply *reply) {
  struct span build_id = span_of(reply->build_id, reply->build_id_len);
  if (reply->status == 0 && reply->is_map && build_id.len == 0)
    return debug_store_adopt_identity(store, file->sha256);
  if (reply->status == 0 || build_id.len > 0)
    return debug_store_set_identity(store, file->sha256, build_id);
  return 0;
}

/* Writes to WHY why RESULT, a failed worker or a rejection, is the file's fault; "" if it is
   not. */
static void explain(const struct nursery_result *result, char why[LIMIT_VALUE_BYTES]) {
  why[0] = '\0';
  if (result->outcome == NURSERY_KILLED)
    snprintf(why, LIMIT_VALUE_BYTES, "the worker was killed over it twice");
  else if (result->outcome != NURSERY_REPLIED && result->signal == SIGXCPU)
    snprintf(why, LIMIT_VALUE_BYTES,
             "reading it takes more CPU time than one of its size may have");
  else if (result->outcome != NURSERY_REPLIED)
    snprintf(why, LIMIT_VALUE_BYTES, "the worker died over it (signal %d)", result->signal);
  else if (result->reply.status != 0)
    snprintf(why, LIMIT_VALUE_BYTES, "%s", result->reply.reason);
}

/* Writes to WHY if the index exceeds the limit for its inputs. */
static void limit_bytes(const struct draft *draft, uint64_t from, char why[LIMIT_VALUE_BYTES]) {
  struct stat status;
  if (fstat(draft->index, &status) != 0 || (uint64_t)status.st_size <= index_bytes_max(from))
    return;
  snprintf(why, LIMIT_VALUE_BYTES,
           "its index would take %llu bytes, more than the file (at most %llu)",
           (unsigned long long)status.st_size, (unsigned long long)index_bytes_max(from));
}

/* Makes the index of FILE by RECIPE. Returns 0, with WHY "" or the file's fault; or -errno. */
static int make(struct nursery *nursery, const struct debug_file *file, const struct recipe *recipe,
                struct nursery_result *result, char why[LIMIT_VALUE_BYTES]) {
  struct draft draft;
  const char *index_path = recipe->depth == INDEX_ALL ? file->dwarf_path : file->index_path;
  int error = open_draft(file, index_path, &draft);
  if (error != 0) return error;
  error = run_worker(nursery, file, &draft, recipe, result);
  bool has_reply = error == 0 && result->outcome == NURSERY_REPLIED;
  if (has_reply && result->reply.status != 0 && !is_files_fault(result->reply.status))
    error = result->reply.status;
  if (error == 0) explain(result, why);
  uint64_t from = count_bytes(&draft, recipe);
  if (error == 0 && why[0] == '\0') limit_bytes(&draft, from, why);
  if (error == 0 && why[0] == '\0') error = accept_draft(index_path, &draft, from, why);
  if (has_reply && is_files_fault(error)) {
    snprintf(why, LIMIT_VALUE_BYTES, "the worker made a broken index of it");
    error = 0;
  }
  close_draft(&draft);
  return error;
}

static bool is_supplement(const struct nursery_result *result) {
  return result->outcome == NURSERY_REPLIED && result->reply.status == -EBADMSG &&
         result->reply.is_supplement != 0;
}

/* Records the worker's reply about FILE. */
static int record_reply(struct debug_store *store, const struct debug_file *file,
                        const struct worker_reply *reply) {
  struct span alternate = span_of(reply->alternate_id, reply->alternate_id_len);
  int error = record_identity(store, file, reply);
  if (error == 0 && alternate.len > 0) error = supplements_note(store, file->sha256, alternate);
  return error;
}

static int open_supplements(struct debug_store *store, const struct debug_file *file,
                            struct recipe *recipe) {
  int count = supplements_open(store, file->sha256, recipe->supplements, WORKER_SUPPLEMENTS_MAX);
  recipe->supplement_count = count > 0 ? (unsigned)count : 0;
  return count < 0 ? count : 0;
}

static void close_supplements(struct recipe *recipe) {
  for (unsigned i = 0; i < recipe->supplement_count; i++) close(recipe->supplements[i]);
}

static unsigned count_supplements(struct debug_store *store, const struct debug_file *file) {
  struct recipe recipe;
  if (open_supplements(store, file, &recipe) != 0) return 0;
  close_supplements(&recipe);
  return recipe.supplement_count;
}

/* Writes to WHY if FILE contradicts another file of its build-id. Its symbols must have been read.
 */
static int find_rival(struct debug_store *store, const struct debug_file *file,
                      char why[LIMIT_VALUE_BYTES]) {
  uint8_t sha256[32];
  int error = rival_file_find(store, file, sha256);
  if (error != 0) return error == -ENOENT ? 0 : error;
  rival_file_print(sha256, why, LIMIT_VALUE_BYTES);
  return 0;
}

int index_maker_make(struct debug_store *store, struct nursery *nursery,
                     const struct debug_file *file) {
  static const struct recipe symbols = {.depth = INDEX_SYMBOLS_ONLY};
  struct nursery_result result;
  char why[LIMIT_VALUE_BYTES];
  struct verdict verdict = {DEBUG_BAD, why};
  int error = make(nursery, file, &symbols, &result, why);
  if (error == 0 && is_supplement(&result))
    return supplements_add(store, file->sha256,
                           span_of(result.reply.build_id, result.reply.build_id_len));
  if (error == 0 && result.outcome == NURSERY_REPLIED)
    error = record_reply(store, file, &result.reply);
  bool is_proven = error == 0 && why[0] == '\0' && result.reply.build_id_len > 0;
  if (is_proven && !result.reply.is_map) error = find_rival(store, file, why);
  if (error != 0) return error;
  if (why[0] == '\0') verdict = judge_symbols(&result.reply);
  error = debug_store_set_quality(store, file->sha256, verdict.quality, verdict.reason);
  if (error == 0) error = index_bytes_note(store, file);
  bool waits = error == 0 && why[0] == '\0' && result.reply.has_dwarf;
  return waits ? debug_store_await_dwarf(store, file->sha256) : error;
}

/* Makes the full index of FILE with its supplements. If they spoil it, makes it without them, with
   the reason in LACKS. */
static int make_deep(struct debug_store *store, struct nursery *nursery,
                     const struct debug_file *file, struct nursery_result *result,
                     char why[LIMIT_VALUE_BYTES], char lacks[LIMIT_VALUE_BYTES]) {
  struct recipe recipe = {.depth = INDEX_ALL};
  int error = open_supplements(store, file, &recipe);
  if (error == 0) error = make(nursery, file, &recipe, result, why);
  bool is_spoiled = error == 0 && why[0] != '\0' && recipe.supplement_count > 0;
  close_supplements(&recipe);
  recipe.supplement_count = 0;
  lacks[0] = '\0';
  if (is_spoiled) {
    snprintf(lacks, LIMIT_VALUE_BYTES, "its supplements (dwz, .dwo) are of no use: %.*s",
             LIMIT_VALUE_BYTES - 48, why);
    error = make(nursery, file, &recipe, result, why);
  }
  if (error == 0 && why[0] == '\0' && lacks[0] == '\0')
    snprintf(lacks, LIMIT_VALUE_BYTES, "%.*s%s", LIMIT_VALUE_BYTES - 48, result->reply.reason,
             result->reply.missing_units > 0 ? "; upload it, or a .dwp, for this build-id" : "");
  return error;
}

int index_maker_deepen(struct debug_store *store, struct nursery *nursery,
                       const struct debug_file *file) {
  struct nursery_result result;
  char why[LIMIT_VALUE_BYTES], lacks[LIMIT_VALUE_BYTES];
  unsigned before = count_supplements(store, file);
  int error = make_deep(store, nursery, file, &result, why, lacks);
  if (error == -ETIME)
    return debug_store_refuse_dwarf(
        store, file->sha256, "its workers had no CPU time: it waits for the next start", false);
  if (error != 0) return error;
  if (why[0] == '\0' && !result.reply.is_from_dwarf)
    snprintf(why, sizeof why, "%s", result.reply.reason);
  if (why[0] != '\0') return debug_store_refuse_dwarf(store, file->sha256, why, true);
  error = debug_store_set_dwarf(store, file->sha256, lacks);
  if (error == 0) error = index_bytes_note(store, file);
  bool has_more_now = error == 0 && count_supplements(store, file) > before;
  return has_more_now ? debug_store_await_dwarf(store, file->sha256) : error;
}
