/* SPDX-License-Identifier: Apache-2.0 */
/* One table of rows gives a program its flags, its config file keys, its environment names and its
   --help.  An option `--spool-bytes` is `spool-bytes =` in the file (an INI without sections, read
   by inih) and FLEETPROF_SPOOL_BYTES in the environment.  The command line beats the file, the file
   beats the environment, the environment beats the default.

   The file is that of --config or FLEETPROF_CONFIG; without them /etc/fleetprof/PROGRAM.conf where
   there is one (PROGRAM: the usage's first word), unless a --state of its own is on the command
   line: then everything of that board is in its directory.  `--config ''` is no file at all. */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
  OPTION_FLAG,     /* bool */
  OPTION_STRING,   /* const char *, NULL when neither given nor defaulted */
  OPTION_PATH,     /* as a string, but never empty */
  OPTION_LIST,     /* struct option_list; may be given many times */
  OPTION_COUNT,    /* uint64_t */
  OPTION_BYTES,    /* uint64_t; 512K, 20G, 1MiB; powers of 1024 */
  OPTION_BYTES_DAY,/* uint64_t bytes a day; 5M/day (the /day may be left out) */
  OPTION_DURATION, /* uint64_t ns; 10s, 5m, 24h, 30d, 250ms */
  OPTION_PERCENT,  /* double, in percent; 0.5% is 0.5 */
};

enum { OPTION_LIST_MAX = 32 };

struct option_list {
  const char *values[OPTION_LIST_MAX];
  unsigned count;
};

struct option {
  const char *name;     /* long name without the dashes */
  char letter;          /* one-letter form, or 0 */
  const char *argument; /* placeholder in --help, or the words it takes ("a|b"); NULL for flags */
  const char *fallback; /* default as text, or NULL */
  const char *group;    /* heading in --help; rows of one group stand together */
  const char *help;
  enum option_kind kind;
  size_t offset; /* of the value in the settings struct */
};

struct option_table {
  const char *usage;   /* "fleetprof run [OPTION]... -- PROGRAM ARG..." */
  const char *summary; /* one sentence */
  const char *epilogue;/* EXAMPLES block, or NULL */
  const struct option *rows;
  size_t row_count;
  const char *const *other_names; /* of a subcommand: the options of the others, NULL at the end,
                                     which their common file may hold; NULL: it has no file but
                                     --config's */
  bool (*is_usual_state)(const char *dir); /* or NULL; a --state that it knows is as good as none */
};

struct options_result {
  int first_positional; /* index in argv of the first word that is no option */
  bool is_done;         /* --help or --version was printed: exit 0 */
};

/* Fills SETTINGS from defaults, environment, config file and ARGV (from argv[1]; stops at the
   first word that is no option or after "--").  --help, --version and --config are understood by
   every table.  Returns 0, or -EINVAL with one line in ERROR that names the option, the value
   and, for an unknown name, the nearest known one (file and line for a config file).  Strings stay
   owned by argv, the environment or the table; those from files live until exit. */
int options_parse(const struct option_table *table, int argc, char *const argv[], void *settings,
                  struct options_result *ret, char *error, size_t error_len);

/* VALUE, a string that options_parse has set, stands on the command line: it is no default, and
   comes from no file and no environment, which all commands share. */
bool options_is_on_line(int argc, char *const argv[], const char *value);

/* Reads one value as KIND into VALUE (the type that KIND says).  Returns 0 or -EINVAL. */
int options_parse_value(enum option_kind kind, const char *text, void *value);

#endif
