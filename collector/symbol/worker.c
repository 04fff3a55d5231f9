/* SPDX-License-Identifier: Apache-2.0 */
/* The worker: one process for each file.

   After reading a hostile file, a process may be under the attacker's control. So it never reads a
   second file: it can only corrupt the names of its own file, which belongs to the sender. So a
   crash, whatever its cause, is cheap too.

   The file is mapped before the sandbox is entered; afterwards the process only computes and writes
   two outputs. */
#include "worker.h"

#include "common/buf.h"
#include "common/write_all.h"
#include "index_builder.h"
#include "sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int map_file(int fd, struct span *ret) {
  struct stat status;
  if (fstat(fd, &status) != 0) return -errno;
  if (status.st_size <= 0 || (uint64_t)status.st_size > LIMIT_DEBUG_FILE_BYTES) return -EOVERFLOW;
  size_t len = (size_t)status.st_size;
  /* Writable and private: libelf marks unpacked sections there. */
  void *map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
  if (map == MAP_FAILED) return -errno;
  *ret = span_of(map, len);
  return 0;
}

/* The mapped files of the job. */
struct mapped {
  struct span elf, supplements[WORKER_SUPPLEMENTS_MAX];
  uint32_t supplement_count;
  uint64_t bytes; /* total */
};

/* A supplement that cannot be mapped counts as missing; it does not reject the file. */
static int map_files(const struct worker_job *job, struct mapped *ret) {
  int error = map_file(job->elf, &ret->elf);
  ret->bytes = ret->elf.len;
  for (uint32_t i = 0; error == 0 && i < job->supplement_count; i++) {
    struct span *supplement = &ret->supplements[ret->supplement_count];
    if (map_file(job->supplements[i], supplement) != 0) continue;
    ret->bytes += supplement->len;
    ret->supplement_count++;
  }
  return error;
}

static int index_file(const struct mapped *mapped, const struct worker_job *job,
                      struct worker_reply *reply) {
  struct buf index = {0}, missing = {0};
  struct index_summary summary;
  struct index_input input = {mapped->elf, job->depth, mapped->supplements,
                              mapped->supplement_count, job->missing != NULL ? &missing : NULL};
  int error =
      index_builder_build_with(&input, &index, &summary, reply->reason, sizeof reply->reason);
  reply->symbol_count = summary.symbol_count;
  reply->missing_units = summary.missing_units;
  reply->is_supplement = summary.image.is_supplement;
  reply->alternate_id_len = summary.image.alternate_id_len;
  memcpy(reply->alternate_id, summary.image.alternate_id, sizeof reply->alternate_id);
  reply->has_symtab = summary.image.has_symtab;
  reply->has_names = summary.image.function_count > 0;
  reply->is_map = summary.image.is_map;
  reply->is_from_dwarf = summary.is_from_dwarf;
  reply->has_dwarf = summary.image.has_dwarf;
  reply->build_id_len = summary.image.build_id_len;
  memcpy(reply->build_id, summary.image.build_id, sizeof reply->build_id);
  if (error == 0) {
    error = write_all(job->index, buf_span(&index));
    if (error != 0) snprintf(reply->reason, sizeof reply->reason, "its index cannot be written");
  }
  if (error == 0 && job->missing != NULL && !missing.failed)
    write_all(*job->missing, buf_span(&missing)); /* optional: ignore a failure */
  buf_fini(&missing);
  buf_fini(&index);
  return error;
}

void worker_run(const struct worker_job *job, int reply_fd) {
  struct worker_reply reply = {.magic = WORKER_MAGIC};
  struct mapped mapped = {.supplement_count = 0};
  reply.status = map_files(job, &mapped);
  if (reply.status != 0) {
    snprintf(reply.reason, sizeof reply.reason, "it cannot be mapped");
  } else if ((reply.status = sandbox_enter(mapped.bytes)) != 0) {
    snprintf(reply.reason, sizeof reply.reason, "the sandbox cannot be entered");
  } else {
    reply.status = index_file(&mapped, job, &reply);
  }
  write_all(reply_fd, span_of(&reply, sizeof reply));
  _exit(0);
}
