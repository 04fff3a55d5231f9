/* SPDX-License-Identifier: Apache-2.0 */
/* The files found in the paths to upload. */
#ifndef UPLOAD_FOUND_H
#define UPLOAD_FOUND_H

#include "common/arena.h"
#include "proto/limits.h"

enum { FOUND_FILES_MAX = 1 << 20 };

struct found_file {
  const char *name;   /* for display: its path, after that of the archive that contains it */
  const char *source; /* the file on disk to read it from again */
  uint32_t ordinal;   /* its index in that source */
  uint64_t bytes;
  uint8_t sha256[32];
  uint8_t id[LIMIT_MODULE_ID_BYTES]; /* build-id; the hash, if it has none */
  uint32_t id_len;
  bool has_build_id;
  bool has_code;    /* is mapped on boards */
  bool has_symbols; /* for all its functions, not only exported ones */
  bool has_dwarf;
  bool is_list;  /* a text list of symbols */
  bool is_split; /* debug information that belongs to another file: .dwo, .dwp */
};

struct found { /* all-zero is empty */
  struct found_file *files;
  uint32_t count, cap;
  struct arena names;
};

void found_init(struct found *found);
void found_fini(struct found *found);

/* Adds a copy of FILE, including its names.  Returns 0, -ENOMEM, or -EOVERFLOW beyond
   FOUND_FILES_MAX. */
int found_add(struct found *found, const struct found_file *file);

#endif
