/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and reads a module's debug file without blocking on a file system. */
#ifndef UPLINK_DEBUG_FILE_H
#define UPLINK_DEBUG_FILE_H

#include "elf/debug_find.h"

#include <stddef.h>
#include <sys/types.h>
#include <time.h>

enum {
  DEBUG_FILE_PATIENCE_MS = 10000, /* for an answer: listing a kernel's symbols is slow */
  DEBUG_FILE_SILENCE_MS = 60000,  /* until a place that did not answer is tried again */
  DEBUG_FILE_CHILDREN_MAX = 80,   /* readers, including late ones */
  DEBUG_FILE_READ_BYTES = 32 << 10,
};

struct debug_child {
  pid_t pid;       /* 0: free, or exited */
  bool is_awaited; /* a debug_file uses this row: no answer was read yet */
  uint64_t place, until_ms;
};

/* All-zero is empty. */
struct debug_children {
  struct debug_child rows[DEBUG_FILE_CHILDREN_MAX];
};

struct debug_file {
  int fd;                  /* -1: a child searches or reads it */
  int socket;              /* to that child, else -1 */
  struct debug_child *row; /* that child, while it searches; else NULL */
  uint64_t until_ms;       /* deadline of its answer; 0: no request is pending */
  uint64_t size_bytes;
  struct timespec modified;
  bool is_id_content; /* as in debug_find */
};

/* Starts the search for the file of MODULE; debug_file_look returns its result.  Returns 0; -EBUSY
   if its place did not answer recently, or too many places do not answer; or another -errno; with
   the reason in WHY. */
int debug_file_find(struct debug_children *children, const struct debug_module *module,
                    struct debug_file *ret, char *why, size_t why_len);

/* Returns 0 if FILE is found and open, -EINPROGRESS during the search.  On -ENOENT, -EACCES,
   -EFBIG, -ETIMEDOUT or another -errno, with the reason in WHY, FILE is closed. */
int debug_file_look(struct debug_file *file, char *why, size_t why_len);
void debug_file_close(struct debug_file *file);

/* Releases the rows of children that have exited. */
void debug_children_reap(struct debug_children *children);

/* Returns 0, -ESTALE if FILE has changed since it was found, or -errno. */
int debug_file_check(const struct debug_file *file);

/* Reads at most LEN bytes at OFFSET.  Returns their number, 0 at the end, -ESTALE as
   debug_file_check, -ETIMEDOUT or another -errno.  On -EINPROGRESS a child has not read them yet:
   call again with the same arguments. */
ssize_t debug_file_read(struct debug_file *file, uint64_t offset, void *bytes, size_t len);

#endif
