/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files behind options.h: finding a row, filling it from one source, and printing
   help and version. Private to them. */
#ifndef COMMON_OPTIONS_SOURCE_H
#define COMMON_OPTIONS_SOURCE_H

#include "options.h"

enum {
  OPTION_NAME_MAX = 64, /* longest name of a row, with its NUL */
  OPTION_ROWS_MAX = 64,
  OPTION_ENVIRONMENT_MAX = 80, /* "FLEETPROF_" and a name */
  OPTION_FILE_MAX = 128,       /* path of the usual config file */
};

/* One source of values: the defaults, the environment, a file or the command line. The first value
   of a list in a source replaces the values of weaker sources. */
struct option_source {
  const struct option_table *table;
  void *settings;
  char *error;
  size_t error_len;
  bool is_filled[OPTION_ROWS_MAX]; /* by this source */
};

/* Returns the row with NAME (LEN bytes), or NULL. */
const struct option *option_find(const struct option_table *table, const char *name, size_t len);

/* Returns the name nearest to WORD, among the rows and the three built-in options; NULL if it is
   too different. */
const char *option_nearest(const struct option_table *table, const char *word);

/* Writes FLEETPROF_<NAME> into TEXT. */
void option_environment_name(const char *name, char text[OPTION_ENVIRONMENT_MAX]);

/* Sets ROW from TEXT. WHERE is the place for an error ("--hz", "FILE:3: hz"). Returns 0, or -EINVAL
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

/* Writes the path of TABLE's usual config file; "" if it has none. */
void option_usual_file(const struct option_table *table, char ret_path[OPTION_FILE_MAX]);

/* As option_read_file, but a missing file counts as empty. */
int option_read_usual_file(struct option_source *source);

void option_print_help(const struct option_table *table);
void option_print_version(const struct option_table *table);

#endif
