/* SPDX-License-Identifier: Apache-2.0 */
/* An open symbol list: nm, System.map, kallsyms, or a linker's map; sorted or not, with or without
   an index. */
#ifndef SYMBOL_LIST_LIST_FILE_H
#define SYMBOL_LIST_LIST_FILE_H

#include "common/symbol_line.h"

#include <stddef.h>

struct list_file;

struct list_choice {
  const char *path;
  const char *index_path; /* NULL: none; the list itself is searched */
  bool is_sorted;         /* trust that it is sorted; otherwise the list is read through once */
};

enum {
  LIST_FILE_WHY_BYTES = 256,
  LIST_FILE_READ_BYTES_MAX = 256 << 20, /* of unmappable files like /proc/kallsyms */
};

/* Opens the list of CHOICE.  An unsorted list gets an index in memory, 16 bytes per symbol.
   Returns 0, or -errno with the remedy in WHY. */
int list_file_open(const struct list_choice *choice, struct list_file **ret,
                   char why[LIST_FILE_WHY_BYTES]);
void list_file_close(struct list_file *file); /* NULL is permitted */

/* The text of the list (for a linker's map, its symbols as a list), valid until list_file_close. */
struct span list_file_text(const struct list_file *file);

/* Finds the symbol of ADDRESS.  RET is valid until list_file_close.  Returns 0 or -ENOENT. */
int list_file_find(const struct list_file *file, uint64_t address, struct symbol_line *ret);

/* Writes the index of FILE to PATH atomically.  Returns 0, or -errno with WHY. */
int list_file_write_index(const struct list_file *file, const char *path,
                          char why[LIST_FILE_WHY_BYTES]);

#endif
