/* SPDX-License-Identifier: Apache-2.0 */
/* Progress on stderr: a bar on a terminal, otherwise a line every ten seconds, which shows a build
   pipeline that the process is alive. */
#ifndef UPLOAD_PROGRESS_H
#define UPLOAD_PROGRESS_H

#include "common/progress_line.h"

struct progress {
  struct progress_line line;
  uint64_t told_ns; /* time of the last line without a terminal */
  uint32_t file, file_count;
  uint64_t done_bytes, bytes; /* of completed files; of all files */
};

void progress_init(struct progress *progress, uint32_t file_count, uint64_t bytes);

/* Shows that SENT bytes of the file NAME are sent. */
void progress_show(struct progress *progress, const char *name, uint64_t sent);

/* The current file, of BYTES, is done. */
void progress_next(struct progress *progress, uint64_t bytes);

/* Erases the bar, so that a line can be printed. */
void progress_clear(struct progress *progress);

#endif
