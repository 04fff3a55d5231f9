/* SPDX-License-Identifier: Apache-2.0 */
/* The names that a profile file keeps of its functions: the payload of a MARK with a payload
   (spool/profile_file.h), packed with zstd.  Numbers are varints:

     version (FUNCTION_NAMES_VERSION), then modules until the end, each
       quality (enum names_quality), length of the build-id, build-id, count of functions, then each
         start less that of the one before, size, length of the name, name

   Functions are sorted by start, the longer first of two with the same; a name of no bytes says
   that only the bounds are known.  Names are clean text (symbol/name_text.h).  A module may come
   again, with other functions or better names.  A reader passes over a
   payload of a version that it does not know. */
#ifndef REPORT_FUNCTION_NAMES_H
#define REPORT_FUNCTION_NAMES_H

#include "common/span.h"

struct arena;
struct buf;

enum { FUNCTION_NAMES_VERSION = 1, FUNCTION_NAMES_MODULES_MAX = 65536 };

enum names_quality {
  NAMES_EXPORTED, /* of a stripped file: those that others may call */
  NAMES_ALL,
};

struct function_name {
  uint64_t start, size;
  const char *name; /* "": only the bounds are known */
};

struct module_names {
  struct span id;
  enum names_quality quality;
  uint32_t count;
  const struct function_name *functions; /* sorted as above */
};

/* Begins a payload in RET, which is empty. */
void function_names_begin(struct buf *ret);

/* Appends MODULE to a payload that was begun.  Running out of memory is remembered in RET. */
void function_names_append(const struct module_names *module, struct buf *ret);

/* Decodes a payload into ARENA.  Returns 0; -EPROTO for another version; -EBADMSG; -EOVERFLOW when
   it holds more than ARENA or FUNCTION_NAMES_MODULES_MAX; or -ENOMEM.  Ids stay PAYLOAD's. */
int function_names_decode(struct span payload, struct arena *arena, struct module_names **ret,
                          uint32_t *ret_count);

#endif
