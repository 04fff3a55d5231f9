/* SPDX-License-Identifier: Apache-2.0 */
/* How far it is, on stderr: a bar on a terminal, elsewhere a line every ten seconds
   (what runs in a pipeline of builds says that it lives). */
#ifndef UPLOAD_PROGRESS_H
#define UPLOAD_PROGRESS_H

#include "common/progress_line.h"

struct progress {
  struct progress_line line;
  uint64_t told_ns; /* of the lines elsewhere */
  uint32_t file, file_count;
  uint64_t done_bytes, bytes; /* of files that are sent whole; of all */
};

void progress_init(struct progress *progress, uint32_t file_count, uint64_t bytes);

/* SENT bytes of the file NAME are sent. */
void progress_show(struct progress *progress, const char *name, uint64_t sent);

/* The file in hand, of BYTES, is done with. */
void progress_next(struct progress *progress, uint64_t bytes);

/* Takes the bar away, so that a line can be printed. */
void progress_clear(struct progress *progress);

#endif
