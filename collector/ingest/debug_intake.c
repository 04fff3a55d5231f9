/* SPDX-License-Identifier: Apache-2.0 */
/* Receives debug files.

   Separate from the writer because all steps are slow: a write, at the end a hash over up to a
   gigabyte, and then a sandboxed process that reads symbols from an untrusted ELF file. No step
   waits for a board: each piece is one job.

   A complete file that the reader cannot use is finished, too, because the board could only send
   the same bytes again. The reason is sent to the board and shown in the list of modules. */
#include "debug_intake.h"

#include "common/buf.h"
#include "names/debug_store.h"
#include "names/symbolizer.h"
#include "job.h"
#include "proto/compress.h"

#include <errno.h>
#include <stdio.h>

static void read_file(struct debug_intake *intake, struct job *job) {
  int result = symbolizer_prepare(intake->symbolizer, job->board, job->message.debug_chunk.id);
  job->is_whole = true;
  figures_add(&intake->figures->debug_files_total, 1);
  if (result == 0) return;
  int judged = result == -EBADMSG
                   ? debug_store_judge(intake->store, job->board, job->message.debug_chunk.id,
                                       job->why, sizeof job->why)
                   : 0;
  if (judged != -EBADMSG)
    snprintf(job->why, sizeof job->why, "no symbols could be read from it: %s", strerror(-result));
}

static void write_piece(struct debug_intake *intake, struct job *job, struct span bytes) {
  const struct debug_chunk *chunk = &job->message.debug_chunk;
  struct debug_piece piece = {.board = job->board,
                              .id = chunk->id,
                              .offset = chunk->offset,
                              .total = chunk->total,
                              .sha256 = chunk->sha256,
                              .bytes = bytes};
  int result = debug_store_write(intake->store, &piece, job->why, sizeof job->why);
  if (result < 0) {
    if (job->why[0] == 0) snprintf(job->why, sizeof job->why, "%s", strerror(-result));
    job_refuse(job, REFUSAL_DEBUG_PIECE, job->why);
    return;
  }
  job->why[0] = 0;
  figures_add(&intake->figures->debug_pieces_total, 1);
  figures_add(&intake->figures->debug_bytes_total, bytes.len);
  if (result == 1) read_file(intake, job);
}

static void take_chunk(struct debug_intake *intake, struct job *job) {
  const struct debug_chunk *chunk = &job->message.debug_chunk;
  struct buf raw = {0};
  int result = decompress(chunk->zstd, chunk->raw_len, LIMIT_DEBUG_CHUNK_BYTES, &raw);
  if (result == 0) {
    write_piece(intake, job, buf_span(&raw));
  } else {
    snprintf(job->why, sizeof job->why, "piece does not inflate to %u bytes", chunk->raw_len);
    job_refuse(job, REFUSAL_DEBUG_PIECE, job->why);
  }
  buf_fini(&raw);
}

void debug_intake_run(void *context, struct job *group) {
  struct debug_intake *intake = context;
  for (struct job *job = group; job != NULL; job = job->next) {
    const struct debug_end *end = &job->message.debug_end;
    if (job->kind == JOB_DEBUG_CHUNK)
      take_chunk(intake, job);
    else
      debug_store_unavailable(intake->store, job->board, end->id, end->reason);
  }
}
