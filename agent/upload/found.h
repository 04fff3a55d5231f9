/* SPDX-License-Identifier: Apache-2.0 */
/* The files that were found on the way through what is to be uploaded. */
#ifndef UPLOAD_FOUND_H
#define UPLOAD_FOUND_H

#include "common/arena.h"
#include "proto/limits.h"

enum { FOUND_FILES_MAX = 1 << 20 };

struct found_file {
  const char *name;   /* for people: its path, behind that of the archive that holds it */
  const char *source; /* the file on disk to read it from again */
  uint32_t ordinal;   /* which one of that source's */
  uint64_t bytes;
  uint8_t sha256[32];
  uint8_t id[LIMIT_MODULE_ID_BYTES]; /* build-id; of a file without one its hash */
  uint32_t id_len;
  bool has_build_id;
  bool has_code;    /* is mapped on boards */
  bool has_symbols; /* of all its functions, not only of those it exports */
  bool has_dwarf;
  bool is_list;  /* of symbols, as text */
  bool is_split; /* debug information that belongs to that of another file: .dwo, .dwp */
};

struct found { /* all-zero is empty */
  struct found_file *files;
  uint32_t count, cap;
  struct arena names;
};

void found_init(struct found *found);
void found_fini(struct found *found);

/* Adds a copy of FILE, names included.  Returns 0, -ENOMEM, or -EOVERFLOW beyond FOUND_FILES_MAX.
 */
int found_add(struct found *found, const struct found_file *file);

#endif
