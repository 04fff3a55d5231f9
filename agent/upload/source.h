/* SPDX-License-Identifier: Apache-2.0 */
/* One file on disk and the files in it: itself, or what it holds as an archive. */
#ifndef UPLOAD_SOURCE_H
#define UPLOAD_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

enum {
  SOURCE_DEPTH_MAX = 4,         /* archives in archives: a tar of debs, a packed module in it */
  SOURCE_MEMBERS_MAX = 4 << 20, /* of one source */
  SOURCE_NAME_BYTES = 8192,     /* a longer name is cut */
};
#define SOURCE_UNPACKED_BYTES_MAX (UINT64_C(64) << 30) /* of one source */

/* A file of a source that may have names: an ELF file or a list of symbols. */
struct source_file {
  const char *source, *name;
  uint32_t ordinal; /* the same each time that an unchanged source is read */
  int fd;           /* to be read by pread; the source's to close */
  uint64_t bytes;
  bool is_list;
};

struct source_visitor {
  /* Returns 0 to go on; anything else ends the reading and is its result. */
  int (*on_file)(void *context, const struct source_file *file);
  /* NAME, or a part of it, is passed over. */
  void (*on_trouble)(void *context, const char *name, const char *why);
  void *context;
};

/* Reads the regular file PATH.  A list of symbols is taken for one by its name, or by its content
   alone when IS_GIVEN: the user has named it.  Returns 0, -errno when PATH cannot be read, or what
   on_file returned. */
int source_read(const char *path, bool is_given, const struct source_visitor *visitor);

#endif
