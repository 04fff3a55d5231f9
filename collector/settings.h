/* SPDX-License-Identifier: Apache-2.0 */
/* What the collector was told, checked. */
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
      board_modules;               /* a day, of one board; 0: all */
  uint64_t board_cpus_max;         /* that a board may say it has; 0: LIMIT_CPUS */
  uint64_t memory_limit_bytes;     /* 0: a share of the machine's */
  uint64_t handshakes_per_address; /* 0: no limit */
  struct option_list watched;      /* functions whose shares are on /metrics */
  const char *watched_by;
  struct option_list public_names; /* of the HTTPS certificate; the first is that of links */
  bool verbose;
};

/* Fills RET from defaults, environment, config file and ARGV.  Returns 0; 1 when --help or
   --version was printed; -EINVAL with "what: why" in ERROR. */
int settings_read(int argc, char **argv, struct settings *ret, char *error, size_t error_len);

/* Returns how much memory the process may have: what is set, or else what the machine allows; 0:
   nobody knows. */
uint64_t settings_memory_limit(const struct settings *settings);

/* Writes what the HTTPS certificate is to name beside this machine (ca_set_names): the address of
   --http, where it is one, and all of --public-name.  Returns 0 or -errno. */
int settings_names(const struct settings *settings, char *ret);

/* The quotas that SETTINGS has for every board. */
struct quota_limits settings_quotas(const struct settings *settings);

struct retention_limits settings_retention(const struct settings *settings);

#endif
