/* SPDX-License-Identifier: Apache-2.0 */
/* The collector's settings, checked. */
#ifndef COLLECTOR_SETTINGS_H
#define COLLECTOR_SETTINGS_H

#include "common/options.h"
#include "quota/quota.h"
#include "retention.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct settings {
  const char *data, *agents, *http, *debuginfod;
  const char *translators; /* file of rules, or NULL */
  uint64_t retention_ns, retention_raw_ns, retention_minutes_ns, retention_hours_ns, max_bytes;
  uint64_t certificate_life_ns; /* of boards */
  uint64_t board_bytes, board_refusals, board_series, board_nodes,
      board_modules;               /* of one board in 24 hours; 0: no limit */
  uint64_t board_cpus_max;         /* largest plausible number of a board; 0: LIMIT_CPUS */
  uint64_t memory_limit_bytes;     /* 0: derived from the machine's */
  uint64_t handshakes_per_address; /* 0: no limit */
  struct option_list watched;      /* functions whose shares are on /metrics */
  const char *watched_by;
  struct option_list public_names; /* of the HTTPS certificate; the first is used in links */
  bool verbose;
};

/* Fills RET from defaults, environment, config file and ARGV. Returns 0; 1 if --help or --version
   was printed; -EINVAL with "what: why" in ERROR. */
int settings_read(int argc, char **argv, struct settings *ret, char *error, size_t error_len);

/* Returns the memory limit of the process: the setting, or else the machine's (memory_use.h); 0 if
   unknown. */
uint64_t settings_memory_limit(const struct settings *settings);

/* Writes the names of the HTTPS certificate other than this machine's (ca_set_names): the address
   of --http, if it is a specific one, and all of --public-name. Returns 0 or -errno. */
int settings_names(const struct settings *settings, char *ret);

/* Returns the quotas of each board. */
struct quota_limits settings_quotas(const struct settings *settings);

struct retention_limits settings_retention(const struct settings *settings);

#endif
