/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a file that no unwind information tells of -> their rules, from their
   instructions. */
#ifndef TABLES_PROLOGUE_FILE_H
#define TABLES_PROLOGUE_FILE_H

#include "elf_image.h"
#include "prologue_state.h"
#include "table_rows.h"

struct prologue_file;

/* For IMAGE, DEBUG its separate debug file (NULL: none).  Borrows all.  Returns 0, -ENOTSUP when
   nothing is known of its CPU, or -ENOMEM. */
int prologue_file_open(const struct elf_image *image, const struct elf_image *debug,
                       struct table_rows *rows, struct prologue_file **ret);
void prologue_file_close(struct prologue_file *file);

/* Addresses [LOW, HIGH) of functions, and what is known of their middle; NULL: nothing. */
struct prologue_range {
  uint64_t low, high;
  const struct prologue_state *body;
};

/* Tells of the functions in RANGE.  Returns 0, or what table_rows_function or table_rows_put
   refused with. */
int prologue_file_range(struct prologue_file *file, const struct prologue_range *range);

/* Called for each instruction that is told of, with its rule and what it was made from. */
typedef void prologue_watch(void *context, uint64_t address, const struct prologue_state *state,
                            const struct unwind_rule *rule);

/* Lets WATCH see what FILE tells from now on: for who measures how good it is. */
void prologue_file_watch(struct prologue_file *file, prologue_watch *watch, void *context);

/* Tells of all code that no better source has told of: the source is UNWIND_PROLOGUES from now on.
   Returns as above. */
int prologue_file_rest(struct prologue_file *file);

#endif
