/* SPDX-License-Identifier: Apache-2.0 */
/* Derives rules from instructions, for a file's functions without unwind information. */
#ifndef TABLES_PROLOGUE_FILE_H
#define TABLES_PROLOGUE_FILE_H

#include "elf_image.h"
#include "prologue_state.h"
#include "table_rows.h"

struct prologue_file;

/* For IMAGE, with its separate debug file DEBUG (NULL: none). Borrows all. Returns 0, -ENOTSUP if
   its CPU is unsupported, or -ENOMEM. */
int prologue_file_open(const struct elf_image *image, const struct elf_image *debug,
                       struct table_rows *rows, struct prologue_file **ret);
void prologue_file_close(struct prologue_file *file);

/* Functions at addresses [LOW, HIGH), and the state in their middle; NULL: unknown. */
struct prologue_range {
  uint64_t low, high;
  const struct prologue_state *body;
};

/* Adds the functions in RANGE. Returns 0, or the error of table_rows_function or table_rows_put. */
int prologue_file_range(struct prologue_file *file, const struct prologue_range *range);

/* Called for each instruction that is added, with its rule and the state behind it. */
typedef void prologue_watch(void *context, uint64_t address, const struct prologue_state *state,
                            const struct unwind_rule *rule);

/* Calls WATCH for everything that FILE adds from now on, to measure its quality. */
void prologue_file_watch(struct prologue_file *file, prologue_watch *watch, void *context);

/* Adds all code without a better source; the source is UNWIND_PROLOGUES from now on. Returns as
   above. */
int prologue_file_rest(struct prologue_file *file);

#endif
