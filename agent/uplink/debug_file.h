/* SPDX-License-Identifier: Apache-2.0 */
/* The file that names a module, found and read without waiting for a file system.
 */
#ifndef UPLINK_DEBUG_FILE_H
#define UPLINK_DEBUG_FILE_H

#include "elf/debug_find.h"

#include <stddef.h>
#include <sys/types.h>
#include <time.h>

enum {
  DEBUG_FILE_PATIENCE_MS = 10000, /* for an answer: a slow board lists its kernel's symbols */
  DEBUG_FILE_SILENCE_MS = 60000,  /* until a place that gives none is asked again */
  DEBUG_FILE_CHILDREN_MAX = 80,   /* readers, and those that are late */
  DEBUG_FILE_READ_BYTES = 32 << 10,
};

struct debug_child {
  pid_t pid;       /* 0: free, or gone since */
  bool is_awaited; /* a debug_file has this row: no answer was read yet */
  uint64_t place, until_ms;
};

/* All zero: there are none. */
struct debug_children {
  struct debug_child rows[DEBUG_FILE_CHILDREN_MAX];
};

struct debug_file {
  int fd;                  /* -1: a child looks for it or reads it */
  int socket;              /* to that child, else -1 */
  struct debug_child *row; /* that child, while it looks; else NULL */
  uint64_t until_ms;       /* when its answer is late; 0: it was asked nothing */
  uint64_t size_bytes;
  struct timespec modified;
  bool is_id_content; /* as debug_find says */
};

/* Starts the search for the file of MODULE: debug_file_look has its outcome.  Returns 0; -EBUSY
   when its place did not answer a moment ago, or too many do not; or another -errno; with the
   reason in WHY. */
int debug_file_find(struct debug_children *children, const struct debug_module *module,
                    struct debug_file *ret, char *why, size_t why_len);

/* Returns 0 when FILE is found and open, -EINPROGRESS while it is looked for.  On -ENOENT, -EACCES,
   -EFBIG, -ETIMEDOUT or another -errno, with the reason in WHY, FILE is closed. */
int debug_file_look(struct debug_file *file, char *why, size_t why_len);
void debug_file_close(struct debug_file *file);

/* Lets the children go that have ended. */
void debug_children_reap(struct debug_children *children);

/* Returns 0, -ESTALE when FILE is not as it was found, or -errno. */
int debug_file_check(const struct debug_file *file);

/* Reads at most LEN bytes at OFFSET.  Returns how many, 0 at the end, -ESTALE as above, -ETIMEDOUT
   or another -errno; -EINPROGRESS when a child has not read them yet: call again with the same
   arguments. */
ssize_t debug_file_read(struct debug_file *file, uint64_t offset, void *bytes, size_t len);

#endif
