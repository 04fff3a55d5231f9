/* SPDX-License-Identifier: Apache-2.0 */
/* One line at the end of a terminal that says how far something is, and is gone when it is done. */
#ifndef COMMON_PROGRESS_LINE_H
#define COMMON_PROGRESS_LINE_H

#include <stdbool.h>
#include <stdint.h>

struct progress_line {
  bool is_terminal, is_shown;
  uint64_t begin_ns, shown_ns;
};

/* Whether stderr is a terminal on which a line can be taken back.  Any thread. */
bool progress_line_is_possible(void);

/* Begins; with IS_WANTED false, or where no line is possible, nothing is ever shown. */
void progress_line_init(struct progress_line *line, bool is_wanted);

/* Whether a second has passed and it is time to show something new. */
bool progress_line_is_due(const struct progress_line *line);

/* Shows TEXT, clean, in place of what is shown, cut where the terminal ends. */
void progress_line_show(struct progress_line *line, const char *text);

/* The same behind a bar of which DONE of TOTAL is full. */
void progress_line_bar(struct progress_line *line, uint64_t done, uint64_t total, const char *text);

/* Takes the line away, so that another can be printed; the next one that is due comes again. */
void progress_line_clear(struct progress_line *line);

#endif
