/* SPDX-License-Identifier: Apache-2.0 */
/* The collector's options. Only --data is required; the other defaults are safe on a private
   machine: both ports on loopback. Addresses are checked before anything is opened, so that a
   typing mistake is a usage error (exit 2), not a failure. */
#include "settings.h"

#include "common/clock.h"
#include "common/options.h"
#include "http/address.h"
#include "identity/authority.h"
#include "ingest/memory_use.h"
#include "names/debuginfod.h"
#include "proto/limits.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

enum {
  PORT_MAX = 65535,
  CERTIFICATE_LIFE_MIN_S = 5,
  CERTIFICATE_LIFE_MAX_S = 3650 * 86400, /* as long as the root's */
};

#define ROW(name, argument, fallback, group, kind, member, help) \
  { name, 0, argument, fallback, group, help, kind, offsetof(struct settings, member) }

static const struct option rows[] = {
    ROW("data", "DIR", NULL, "Where", OPTION_PATH, data,
        "folder for everything that is kept; made when absent"),
    ROW("agents", "ADDRESS:PORT", "127.0.0.1:7443", "Where", OPTION_STRING, agents,
        "where boards connect (mutual TLS)"),
    ROW("http", "ADDRESS:PORT", "127.0.0.1:7480", "Where", OPTION_STRING, http,
        "page and API; any address but loopback serves TLS and wants a token"),
    ROW("public-name", "NAME", NULL, "Where", OPTION_LIST, public_names,
        "a host name or numeric address that people reach the page by: the HTTPS certificate names "
        "it, and links have the first one; may be given many times"),
    ROW("debuginfod", "URLS", NULL, "Where", OPTION_STRING, debuginfod,
        "servers to ask for the debug files that no board has, with blanks between; nobody is "
        "asked "
        "unless named here: they learn which programs the boards run"),
    ROW("retention", "TIME", "30d", "How much", OPTION_DURATION, retention_ns,
        "days older than this are deleted; 0 keeps all"),
    ROW("retention-raw", "TIME", "6h", "How much", OPTION_DURATION, retention_raw_ns,
        "how long what boards sent window by window stays, once it is summed up; 0 is as long as "
        "hours"),
    ROW("retention-minutes", "TIME", "1d", "How much", OPTION_DURATION, retention_minutes_ns,
        "how long after a day its sums of five minutes stay"),
    ROW("retention-hours", "TIME", "7d", "How much", OPTION_DURATION, retention_hours_ns,
        "the same of sums of hours; sums of days stay for --retention"),
    ROW("max-bytes", "SIZE", "20G", "How much", OPTION_BYTES, max_bytes,
        "beyond this the finest that there is of the oldest days is deleted; 0 is no limit"),
    ROW("translators", "FILE", NULL, "Names", OPTION_PATH, translators,
        "rules for commands that name the addresses of modules, as addr2line does "
        "(docs/translators.md)"),
    ROW("watch", "FUNCTION", NULL, "Names", OPTION_LIST, watched,
        "a function, as the function table has it, whose share of CPU is on /metrics for alerts; "
        "may be given many times"),
    ROW("watch-by", "LABEL", "version", "Names", OPTION_STRING, watched_by,
        "the label that tells releases apart: each has its own share of what is watched"),
    ROW("certificate-life", "TIME", "30d", "Boards", OPTION_DURATION, certificate_life_ns,
        "how long a board's certificate lasts; boards renew theirs at half of it"),
    ROW("board-bytes", "SIZE", "256M/day", "Boards", OPTION_BYTES_DAY, board_bytes,
        "a board's batches beyond this stay in its spool until there is room again; a day's worth "
        "may "
        "come at once; 0 is no limit, as for the next four (docs/limits.md)"),
    ROW("board-refusals", "N", "1000", "Boards", OPTION_COUNT, board_refusals,
        "batches of a board that may be refused a day before its next ones have to wait in its "
        "spool"),
    ROW("board-series", "N", "10000", "Boards", OPTION_COUNT, board_series,
        "different threads by service and name that a board may bring a day, counted within a "
        "tenth: "
        "batches that would bring more are refused and counted as lost (quota)"),
    ROW("board-nodes", "N", "500000", "Boards", OPTION_COUNT, board_nodes,
        "different places in call trees that a board may bring a day, likewise"),
    ROW("board-modules", "N", "10000", "Boards", OPTION_COUNT, board_modules,
        "different programs and libraries that a board may bring a day, likewise"),
    ROW("board-cpus-max", "N", "1024", "Boards", OPTION_COUNT, board_cpus_max,
        "CPUs that a board may say it has, and has where it does not say: batches that claim more "
        "are refused for good and shown in the board's row; 0 is 8192, as many as Linux can be "
        "built for"),
    ROW("handshakes-per-address", "N", "512", "Boards", OPTION_COUNT, handshakes_per_address,
        "connections from one address that may be in their handshake at once; 0 is no limit"),
    ROW("memory-limit", "SIZE", "0", "How much", OPTION_BYTES, memory_limit_bytes,
        "while the collector has more memory of its own than this, boards are told to come later, "
        "and a query may have a quarter of it (1 GiB at most); 0 is "
        "four fifths of what the machine, or the control group, has"),
    {"verbose", 'v', NULL, NULL, "Messages", "say more on stderr", OPTION_FLAG,
     offsetof(struct settings, verbose)},
};

static const struct option_table table = {
    .usage = "fleetprof-collector --data DIR [OPTION]...\n"
             "       fleetprof-collector token --data DIR [OPTION]...\n"
             "       fleetprof-collector revoke --data DIR --board NAME\n"
             "       fleetprof-collector rollover --data DIR --start|--status|--finish\n"
             "       fleetprof-collector backup --data DIR FILE\n"
             "       fleetprof-collector restore FILE --data DIR\n"
             "       fleetprof-collector check --data DIR\n"
             "       fleetprof-collector accept --data DIR",
    .summary = "Receives profiles from boards, stores them, and answers over HTTP.",
    .epilogue = "EXAMPLES\n"
                "  fleetprof-collector --data /var/lib/fleetprof-collector\n"
                "  fleetprof-collector token --data /var/lib/fleetprof-collector --board press-7\n"
                "  fleetprof-collector backup --data /var/lib/fleetprof-collector backup.tar\n"
                "  curl http://127.0.0.1:7480/api/v1/boards\n",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
};

static int check_http(const char *text, char *error, size_t error_len) {
  struct sockaddr_storage address;
  socklen_t len;
  if (address_parse(text, &address, &len) == 0) return 0;
  snprintf(error, error_len,
           "--http %s: is not ADDRESS:PORT with a numeric address or localhost (127.0.0.1:7480, "
           "[::]:7480, localhost:7480)",
           text);
  return -EINVAL;
}

/* Checks the form of --agents. A host name is resolved later; the port must be a number. */
static int check_agents(const char *text, char *error, size_t error_len) {
  const char *colon = strrchr(text, ':');
  uint64_t port = 0;
  if (colon && colon != text && options_parse_value(OPTION_COUNT, colon + 1, &port) == 0 &&
      port <= PORT_MAX)
    return 0;
  snprintf(error, error_len, "--agents %s: is not ADDRESS:PORT (127.0.0.1:7443, [::]:7443)", text);
  return -EINVAL;
}

static int check_names(const struct option_list *names, char *error, size_t error_len) {
  char list[AUTHORITY_NAMES_BYTES] = "";
  for (unsigned i = 0; i < names->count; i++) {
    int failed = authority_add_name(names->values[i], list);
    if (failed == 0) continue;
    snprintf(error, error_len, "--public-name %.300s: %s", names->values[i],
             failed == -EOVERFLOW ? "all names together are too long"
                                  : "is neither a host name nor a numeric address "
                                    "(press.example.org, 10.0.0.1, fd00::1)");
    return failed;
  }
  return 0;
}

int settings_names(const struct settings *settings, char *ret) {
  struct sockaddr_storage bound;
  socklen_t len;
  char host[NI_MAXHOST];
  int failed = address_parse(settings->http, &bound, &len);
  ret[0] = '\0';
  if (!failed && !address_is_wildcard(&bound) &&
      getnameinfo((const struct sockaddr *)&bound, len, host, sizeof host, NULL, 0,
                  NI_NUMERICHOST) == 0)
    failed = authority_add_name(host, ret);
  for (unsigned i = 0; i < settings->public_names.count && !failed; i++)
    failed = authority_add_name(settings->public_names.values[i], ret);
  return failed;
}

static int check_life(uint64_t life_ns, char *error, size_t error_len) {
  uint64_t life_s = life_ns / NS_PER_SECOND;
  if (life_s >= CERTIFICATE_LIFE_MIN_S && life_s <= CERTIFICATE_LIFE_MAX_S) return 0;
  snprintf(error, error_len, "--certificate-life: must be between 5s and 3650d");
  return -EINVAL;
}

static int check_handshakes(uint64_t count, char *error, size_t error_len) {
  if (count <= LIMIT_CONNECTIONS) return 0;
  snprintf(error, error_len, "--handshakes-per-address: must be at most %d", LIMIT_CONNECTIONS);
  return -EINVAL;
}

static int check_cpus(uint64_t count, char *error, size_t error_len) {
  if (count <= LIMIT_CPUS) return 0;
  snprintf(error, error_len, "--board-cpus-max: must be at most %d", LIMIT_CPUS);
  return -EINVAL;
}

static int check_debuginfod(const char *urls, char *error, size_t error_len) {
  char why[256];
  if (urls == NULL || debuginfod_check(urls, why, sizeof why) == 0) return 0;
  snprintf(error, error_len, "--debuginfod: %s", why);
  return -EINVAL;
}

int settings_read(int argc, char **argv, struct settings *ret, char *error, size_t error_len) {
  struct settings settings = {0};
  struct options_result result;
  int failed = options_parse(&table, argc, argv, &settings, &result, error, error_len);
  if (failed) return failed;
  if (result.is_done) return 1;
  if (result.first_positional < argc) {
    snprintf(error, error_len,
             "%s: is no subcommand; there are token, revoke, rollover, backup, restore, check and "
             "accept",
             argv[result.first_positional]);
    return -EINVAL;
  }
  if (settings.data == NULL) {
    snprintf(error, error_len, "--data: is missing; give the folder to keep everything in");
    return -EINVAL;
  }
  failed = check_agents(settings.agents, error, error_len);
  if (!failed) failed = check_http(settings.http, error, error_len);
  if (!failed) failed = check_names(&settings.public_names, error, error_len);
  if (!failed) failed = check_life(settings.certificate_life_ns, error, error_len);
  if (!failed) failed = check_handshakes(settings.handshakes_per_address, error, error_len);
  if (!failed) failed = check_cpus(settings.board_cpus_max, error, error_len);
  if (!failed) failed = check_debuginfod(settings.debuginfod, error, error_len);
  if (!failed) *ret = settings;
  return failed;
}

uint64_t settings_memory_limit(const struct settings *settings) {
  return settings->memory_limit_bytes != 0 ? settings->memory_limit_bytes : memory_use_allowed();
}

struct quota_limits settings_quotas(const struct settings *settings) {
  return (struct quota_limits){.a_day = {[QUOTA_BYTES] = settings->board_bytes,
                                         [QUOTA_REFUSALS] = settings->board_refusals,
                                         [QUOTA_SERIES] = settings->board_series,
                                         [QUOTA_NODES] = settings->board_nodes,
                                         [QUOTA_MODULES] = settings->board_modules}};
}

struct retention_limits settings_retention(const struct settings *settings) {
  return (struct retention_limits){.windows_ns = settings->retention_raw_ns,
                                   .minutes_ns = settings->retention_minutes_ns,
                                   .hours_ns = settings->retention_hours_ns,
                                   .days_ns = settings->retention_ns,
                                   .max_bytes = settings->max_bytes};
}
