/* SPDX-License-Identifier: Apache-2.0 */
/* A list of symbols that is open: nm, System.map, kallsyms, a linker's map, sorted or not, with or
   without an index. */
#ifndef SYMBOL_LIST_LIST_FILE_H
#define SYMBOL_LIST_LIST_FILE_H

#include "common/symbol_line.h"

#include <stddef.h>

struct list_file;

struct list_choice {
  const char *path;
  const char *index_path; /* NULL: none; the list's order is what is searched */
  bool is_sorted;         /* take the user's word for it; else the list is read through once */
};

enum {
  LIST_FILE_WHY_BYTES = 256,
  LIST_FILE_READ_BYTES_MAX = 256 << 20, /* of what cannot be mapped, as /proc/kallsyms */
};

/* Opens what CHOICE says.  A list that is not sorted gets an index in memory, 16 bytes a symbol.
   Returns 0, or -errno with what to do about it in WHY. */
int list_file_open(const struct list_choice *choice, struct list_file **ret,
                   char why[LIST_FILE_WHY_BYTES]);
void list_file_close(struct list_file *file); /* NULL is fine */

/* The list itself (of a linker's map what it lists), valid until list_file_close. */
struct span list_file_text(const struct list_file *file);

/* Finds the symbol of ADDRESS.  RET is valid until list_file_close.  Returns 0 or -ENOENT. */
int list_file_find(const struct list_file *file, uint64_t address, struct symbol_line *ret);

/* Writes the index of FILE to PATH, whole or not at all.  Returns 0, or -errno with WHY. */
int list_file_write_index(const struct list_file *file, const char *path,
                          char why[LIST_FILE_WHY_BYTES]);

#endif
