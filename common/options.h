/* SPDX-License-Identifier: Apache-2.0 */
/* One table of rows gives a program its flags, config file keys, environment names and --help. An
   option `--spool-bytes` is `spool-bytes =` in the file (an INI without sections, read by inih) and
   FLEETPROF_SPOOL_BYTES in the environment. The command line overrides the file, the file overrides
   the environment, the environment overrides the default.

   The file is that of --config or FLEETPROF_CONFIG. Otherwise it is /etc/fleetprof/PROGRAM.conf, if
   it exists (PROGRAM: the usage's first word), unless the command line has its own --state: then
   everything of that board is in its directory. `--config ''` means no file. */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
  OPTION_FLAG,      /* bool */
  OPTION_STRING,    /* const char *, NULL if neither given nor defaulted */
  OPTION_PATH,      /* a string that is never empty */
  OPTION_LIST,      /* struct option_list; may be given many times */
  OPTION_COUNT,     /* uint64_t */
  OPTION_BYTES,     /* uint64_t; 512K, 20G, 1MiB; powers of 1024 */
  OPTION_BYTES_DAY, /* uint64_t bytes a day; 5M/day (/day is optional) */
  OPTION_DURATION,  /* uint64_t ns; 10s, 5m, 24h, 30d, 250ms */
  OPTION_PERCENT,   /* double, in percent; 0.5% is 0.5 */
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
  const char *group;    /* heading in --help; rows of one group are adjacent */
  const char *help;
  enum option_kind kind;
  size_t offset; /* of the value in the settings struct */
};

struct option_table {
  const char *usage;    /* "fleetprof run [OPTION]... -- PROGRAM ARG..." */
  const char *summary;  /* one sentence */
  const char *epilogue; /* EXAMPLES block, or NULL */
  const struct option *rows;
  size_t row_count;
  const char *const *other_names; /* for a subcommand: the options of the others, which their common
                                     file may contain, ended by NULL; NULL: it has no file but
                                     --config's */
  bool (*is_usual_state)(const char *dir); /* or NULL; a --state that satisfies it is ignored */
};

struct options_result {
  int first_positional; /* index in argv of the first word that is no option */
  bool is_done;         /* --help or --version was printed: exit 0 */
};

/* Fills SETTINGS from defaults, environment, config file and ARGV (from argv[1] to the first word
   that is no option, or "--"). Every table accepts --help, --version and --config. Returns 0, or
   -EINVAL with one line in ERROR. It names the option, the value and, for an unknown name, the
   nearest known one (file and line for a config file). Strings stay owned by argv, the environment
   or the table; those from files live until exit. */
int options_parse(const struct option_table *table, int argc, char *const argv[], void *settings,
                  struct options_result *ret, char *error, size_t error_len);

/* True if VALUE, a string set by options_parse, is from the command line: not a default, nor from a
   file or the environment, which all commands share. */
bool options_is_on_line(int argc, char *const argv[], const char *value);

/* Reads one value of KIND into VALUE, which has KIND's type. Returns 0 or -EINVAL. */
int options_parse_value(enum option_kind kind, const char *text, void *value);

#endif
