/* SPDX-License-Identifier: Apache-2.0 */
/* From a whole debug file to an index that may be believed.

   Failures are of two kinds, and must not be mixed.  The file's: it is malformed, it crashed the
   worker, it ran into a limit; then it is bad for ever and its bytes are not kept.  The machine's:
   no process, no space, a worker that somebody else killed; then nothing is recorded and the next
   question tries again.  A kill from outside may also be the kernel's, short of memory because of
   this very file: the second one in a row is put down to the file.

   What the worker wrote is checked in full before it gets its name, since the worker may have been
   taken over by the file. */
#include "index_maker.h"

#include "symbol/index_file.h"
#include "symbol/nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { TRIES_MAX = 2 };

struct draft {
  char path[600]; /* debug_file.index_path and a suffix */
  int elf, index; /* descriptors */
};

static int open_draft(const struct debug_file *file, struct draft *draft) {
  static _Atomic unsigned count; /* two threads may make the same index */
  snprintf(draft->path, sizeof draft->path, "%s.new%u", file->index_path,
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
  unlink(draft->path); /* gone already when it was accepted */
  close(draft->index);
  close(draft->elf);
}

static int run_worker(struct nursery *nursery, struct draft *draft, struct nursery_result *ret) {
  for (int i = 0; i < TRIES_MAX; i++) {
    if (ftruncate(draft->index, 0) != 0 || lseek(draft->index, 0, SEEK_SET) != 0) return -errno;
    int error = nursery_run(nursery, draft->elf, draft->index, INDEX_ALL, ret);
    if (error != 0 || ret->outcome != NURSERY_KILLED) return error;
  }
  return 0;
}

/* Gives the draft its name when it is sound. */
static int accept_draft(const struct debug_file *file, struct draft *draft) {
  struct index_file index;
  if (fdatasync(draft->index) != 0) return -errno;
  int error = index_file_open(draft->path, &index);
  if (error != 0) return error;
  error = symbol_index_verify(&index.index);
  index_file_close(&index);
  if (error == 0 && rename(draft->path, file->index_path) != 0) error = -errno;
  return error;
}

static bool is_files_fault(int status) {
  return status == -EBADMSG || status == -EOVERFLOW || status == -ENOMEM || status == -EPROTO;
}

static int record_bad(struct debug_store *store, const struct debug_file *file,
                      const char *reason) {
  return debug_store_set_quality(store, file->sha256, DEBUG_BAD, reason);
}

static int record_reply(struct debug_store *store, const struct debug_file *file,
                        const struct worker_reply *reply) {
  struct span build_id = span_of(reply->build_id, reply->build_id_len);
  int error = 0;
  if (reply->status == 0 && reply->is_map && build_id.len == 0)
    error = debug_store_adopt_identity(store, file->sha256);
  else if (reply->status == 0 || build_id.len > 0)
    error = debug_store_set_identity(store, file->sha256, build_id);
  if (error != 0) return error;
  if (reply->status != 0) return record_bad(store, file, reply->reason);
  if (reply->is_map) return debug_store_set_quality(store, file->sha256, DEBUG_MAP, "");
  if (reply->has_symtab) return debug_store_set_quality(store, file->sha256, DEBUG_SYMTAB, "");
  if (!reply->has_names)
    return debug_store_set_quality(store, file->sha256, DEBUG_BOUNDS,
                                   "stripped: where functions begin is known, not their names");
  return debug_store_set_quality(store, file->sha256, DEBUG_DYNSYM,
                                 "stripped: only exported functions have names");
}

static int judge_reply(struct debug_store *store, const struct debug_file *file,
                       struct draft *draft, const struct worker_reply *reply) {
  if (reply->status != 0 && !is_files_fault(reply->status)) return reply->status;
  if (reply->status == 0) {
    int error = accept_draft(file, draft);
    if (error != 0 && !is_files_fault(error)) return error;
    if (error != 0) return record_bad(store, file, "the worker made a broken index of it");
  }
  return record_reply(store, file, reply);
}

static int judge(struct debug_store *store, const struct debug_file *file, struct draft *draft,
                 const struct nursery_result *result) {
  char reason[LIMIT_VALUE_BYTES];
  switch (result->outcome) {
  case NURSERY_REPLIED:
    return judge_reply(store, file, draft, &result->reply);
  case NURSERY_TIMED_OUT:
    return record_bad(store, file, "the worker took too long over it");
  case NURSERY_KILLED:
    return record_bad(store, file, "the worker was killed over it twice");
  default:
    snprintf(reason, sizeof reason, "the worker died over it (signal %d)", result->signal);
    return record_bad(store, file, reason);
  }
}

int index_maker_make(struct debug_store *store, struct nursery *nursery,
                     const struct debug_file *file) {
  struct draft draft;
  struct nursery_result result;
  int error = open_draft(file, &draft);
  if (error != 0) return error;
  error = run_worker(nursery, &draft, &result);
  if (error == 0) error = judge(store, file, &draft, &result);
  close_draft(&draft);
  return error;
}
