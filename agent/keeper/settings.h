/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's options, checked, and the locations of its files. */
#ifndef KEEPER_SETTINGS_H
#define KEEPER_SETTINGS_H

#include "common/options.h"

enum { SETTINGS_PATH_BYTES = 4096 };

struct settings {
  const char *collector; /* as given, or NULL: see settings_collector */
  const char *state;     /* as given, or NULL */
  const char *output;    /* as given, or NULL: see output_path */
  bool is_foreground, is_on_demand, is_verbose;
  const char *unwind_name; /* as given */
  uint32_t unwind;         /* enum unwind_choice: for the whole board, and the default of targets */
  bool is_dormant;         /* self-registering targets start paused */
  double budget_cpu;       /* percent of one CPU; 0: none */
  bool is_budget_cpu_given, is_budget_bytes_given;
  uint64_t budget_bytes_day, budget_debug_bytes_day;
  struct option_list labels;
  uint64_t window_ns, spool_bytes, send_bytes;
  bool is_whole_board; /* --system */
  uint64_t system_hz;
  struct option_list allow, deny;        /* services of the whole board */
  uint64_t hz;                           /* default rate of targets */
  char state_dir[SETTINGS_PATH_BYTES];   /* identity, spool, log */
  char runtime_dir[SETTINGS_PATH_BYTES]; /* socket, pid file, counters; with --state the same
                                            directory */
  char output_path[SETTINGS_PATH_BYTES]; /* the file for batches, or "": they are sent */
  bool is_system;                        /* root without --state: serves all users */
};

/* Reads options, environment and config file, and determines the directories.  Returns 0, -EINVAL
   with a line for the user in ERROR, or -ENOENT if there is no place for them. */
int settings_parse(int argc, char *const argv[], struct settings *settings,
                   struct options_result *ret, char *error, size_t error_len);

/* Creates the directories (0700; the system daemon's runtime directory 0711).  Returns 0 or -errno
   with the reason in ERROR. */
int settings_make_dirs(const struct settings *settings, char *error, size_t error_len);

/* Writes DIR/NAME.  Returns false if it does not fit. */
bool settings_path(const char *dir, const char *name, char ret[SETTINGS_PATH_BYTES]);

/* The collector's address: as given, else from the enrolment in the state directory.  Returns false
   if there is none. */
bool settings_collector(const struct settings *settings, char *ret, size_t len);

#endif
