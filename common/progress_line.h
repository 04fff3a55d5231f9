/* SPDX-License-Identifier: Apache-2.0 */
/* A progress line at the end of a terminal, which is removed at the end. */
#ifndef COMMON_PROGRESS_LINE_H
#define COMMON_PROGRESS_LINE_H

#include <stdbool.h>
#include <stdint.h>

struct progress_line {
  bool is_terminal, is_shown;
  uint64_t begin_ns, shown_ns;
};

/* True if stderr is a terminal on which a line can be erased.  Any thread. */
bool progress_line_is_possible(void);

/* Begins. If IS_WANTED is false, or no line is possible, nothing is ever shown. */
void progress_line_init(struct progress_line *line, bool is_wanted);

/* True if a second has passed and it is time for an update. */
bool progress_line_is_due(const struct progress_line *line);

/* Shows TEXT, cleaned, instead of the current line, cut at the terminal's width. */
void progress_line_show(struct progress_line *line, const char *text);

/* The same after a bar that is filled by DONE of TOTAL. */
void progress_line_bar(struct progress_line *line, uint64_t done, uint64_t total, const char *text);

/* Erases the line, so that other text can be printed; the next update shows it again. */
void progress_line_clear(struct progress_line *line);

#endif
