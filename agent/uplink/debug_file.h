/* SPDX-License-Identifier: Apache-2.0 */
/* The file that names a module, found and read without ever waiting for one that does not answer.
 */
#ifndef UPLINK_DEBUG_FILE_H
#define UPLINK_DEBUG_FILE_H

#include "elf/debug_find.h"

#include <stddef.h>
#include <sys/types.h>
#include <time.h>

enum {
  DEBUG_FILE_PATIENCE_MS = 500,  /* for an answer, once for each place that gives none */
  DEBUG_FILE_SILENCE_MS = 60000, /* until such a place is asked again */
  DEBUG_FILE_CHILDREN_MAX = 80,  /* readers, and those that are late */
  DEBUG_FILE_READ_BYTES = 32 << 10,
};

struct debug_child {
  pid_t pid; /* 0: free, or gone since */
  uint64_t place, until_ms;
};

/* All zero: there are none. */
struct debug_children {
  struct debug_child rows[DEBUG_FILE_CHILDREN_MAX];
};

struct debug_file {
  int fd;     /* -1: a child reads it */
  int socket; /* to that child, else -1 */
  uint64_t size_bytes;
  struct timespec modified;
  bool is_id_content; /* as debug_find says */
};

/* Finds and opens the file for MODULE.  Returns 0, or -ENOENT, -EACCES, -EFBIG, -ETIMEDOUT (it does
   not answer, or did not a moment ago) or -EBUSY (too many do not) with the reason in WHY. */
int debug_file_find(struct debug_children *children, const struct debug_module *module,
                    struct debug_file *ret, char *why, size_t why_len);
void debug_file_close(struct debug_file *file);

/* Returns 0, -ESTALE when FILE is not as it was found, or -errno. */
int debug_file_check(const struct debug_file *file);

/* Reads at most LEN bytes at OFFSET.  Returns how many, 0 at the end, -ESTALE as above, -ETIMEDOUT
   or another -errno. */
ssize_t debug_file_read(const struct debug_file *file, uint64_t offset, void *bytes, size_t len);

#endif
