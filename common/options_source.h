/* SPDX-License-Identifier: Apache-2.0 */
/* What the files behind options.h share: finding a row, filling it from one source, and the two
   things printed instead of running.  Not for others. */
#ifndef COMMON_OPTIONS_SOURCE_H
#define COMMON_OPTIONS_SOURCE_H

#include "options.h"

enum {
  OPTION_NAME_MAX = 64, /* longest name of a row, with its NUL */
  OPTION_ROWS_MAX = 64,
  OPTION_ENVIRONMENT_MAX = 80, /* "FLEETPROF_" and a name */
  OPTION_FILE_MAX = 128,       /* path of the usual config file */
};

/* One place that values come from: the defaults, the environment, a file or the command line.  The
   first value of a list in a source replaces what weaker sources gave. */
struct option_source {
  const struct option_table *table;
  void *settings;
  char *error;
  size_t error_len;
  bool is_filled[OPTION_ROWS_MAX]; /* by this source */
};

/* Returns the row called NAME (LEN bytes), or NULL. */
const struct option *option_find(const struct option_table *table, const char *name, size_t len);

/* Returns the name nearest to WORD, among the rows and the three that every table has; NULL when it
   is so far away that nobody can have meant it. */
const char *option_nearest(const struct option_table *table, const char *word);

/* Writes FLEETPROF_<NAME> into TEXT. */
void option_environment_name(const char *name, char text[OPTION_ENVIRONMENT_MAX]);

/* Sets ROW from TEXT.  WHERE is what the error names ("--hz", "FILE:3: hz").  Returns 0 or -EINVAL
   with the error written. */
int option_set(struct option_source *source, const struct option *row, const char *where,
               const char *text);

/* Copies LEN bytes of TEXT for the rest of the program's life.  Returns the copy or NULL. */
const char *option_keep(const char *text, size_t len);

/* Writes one line into the source's error and returns -EINVAL. */
int option_refuse(struct option_source *source, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Fills from the INI file PATH.  Returns 0 or -EINVAL with the error written. */
int option_read_file(struct option_source *source, const char *path);

/* Writes the path of TABLE's usual config file; "" when it has none. */
void option_usual_file(const struct option_table *table, char ret_path[OPTION_FILE_MAX]);

/* As option_read_file, but a file that is not there is as good as an empty one. */
int option_read_usual_file(struct option_source *source);

void option_print_help(const struct option_table *table);
void option_print_version(const struct option_table *table);

#endif
