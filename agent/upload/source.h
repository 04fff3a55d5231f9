/* SPDX-License-Identifier: Apache-2.0 */
/* A file on disk and the files in it: itself, or the members of an archive. */
#ifndef UPLOAD_SOURCE_H
#define UPLOAD_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

enum {
  SOURCE_DEPTH_MAX = 4,         /* nested archives: a tar of debs, a packed module in it */
  SOURCE_MEMBERS_MAX = 4 << 20, /* per source */
  SOURCE_NAME_BYTES = 8192,     /* a longer name is cut */
};
#define SOURCE_UNPACKED_BYTES_MAX (UINT64_C(64) << 30) /* per source */

/* A file that may have names: an ELF file or a symbol list. */
struct source_file {
  const char *source, *name;
  uint32_t ordinal; /* the same whenever an unchanged source is read */
  int fd;           /* read it with pread; the source closes it */
  uint64_t bytes;
  bool is_list;
};

struct source_visitor {
  /* Returns 0 to continue; any other value ends the reading and is its result. */
  int (*on_file)(void *context, const struct source_file *file);
  /* NAME, or a part of it, is skipped. */
  void (*on_trouble)(void *context, const char *name, const char *why);
  void *context;
};

/* Reads the regular file PATH.  A symbol list is recognized by its name and content, or by content
   alone if IS_GIVEN: the user has named it.  Returns 0, -errno if PATH cannot be read, or the
   result of on_file. */
int source_read(const char *path, bool is_given, const struct source_visitor *visitor);

#endif
