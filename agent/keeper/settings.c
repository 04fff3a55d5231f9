/* SPDX-License-Identifier: Apache-2.0 */
/* With --state all files of a board are in one directory, so that many boards can run on one
   machine.  Without it, persistent files are in /var/lib or XDG_STATE_HOME, others (socket, pid
   file, counters) in /run or XDG_RUNTIME_DIR.

   Targets search the daemon in the user's socket directory, so it must belong to the user and be
   closed to others.  The same rule decides whether targets accept it (intake/socket_path.c).

   A given budget must be distinguished from the default (budget.h), so these rows have no
   default. */
#include "settings.h"

#include "common/clock.h"
#include "common/endpoint.h"
#include "common/path.h"
#include "intake/socket_path.h"
#include "intake/unwind_choice.h"
#include "proto/limits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW_NS_MIN NS_PER_SECOND
#define WINDOW_NS_MAX (60 * NS_PER_SECOND)
#define SPOOL_BYTES_MIN (1ULL << 20)
#define BUDGET_CPU_PERCENT 0.5
#define BUDGET_BYTES_DAY (5ULL << 20)
#define BUDGET_CPU_NOT_GIVEN (-1.0)
#define BUDGET_BYTES_NOT_GIVEN UINT64_MAX

enum { HZ_MAX = 10000 };

#define WORD_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define DIGITS "0123456789"

#define AT(field) offsetof(struct settings, field)

static const struct option rows[] = {
    {"collector", 0, "HOST:PORT", NULL, "Collector",
     "the collector's address for agents (default: "
     "the one this board was enrolled at)",
     OPTION_STRING, AT(collector)},
    {"label", 'l', "K=V", NULL, "Collector",
     "a label of this board; may be given many times (default: firmware, the IMAGE_VERSION, else "
     "VERSION_ID, of /etc/os-release)",
     OPTION_LIST, AT(labels)},
    {"state", 0, "DIR", NULL, "Files",
     "keep everything of this board in DIR (default: "
     "/var/lib/fleetprof, or fleetprof in XDG_STATE_HOME)",
     OPTION_PATH, AT(state)},
    {"spool-bytes", 0, "BYTES", "64M", "Files", "disk space for what the collector has not got yet",
     OPTION_BYTES, AT(spool_bytes)},
    {"send-bytes", 0, "BYTES", "1M", "Collector",
     "batches sent in a second at the most, also after weeks without a collector; 0: no limit",
     OPTION_BYTES, AT(send_bytes)},
    {"output", 'o', "FILE", NULL, "Files",
     "append the profile to FILE, for fleetprof report, and send nothing", OPTION_PATH, AT(output)},
    {"foreground", 0, NULL, NULL, "Running", "stay in the foreground and log to stderr",
     OPTION_FLAG, AT(is_foreground)},
    {"on-demand", 0, NULL, NULL, "Running", "end a minute after the last target has ended",
     OPTION_FLAG, AT(is_on_demand)},
    {"verbose", 'v', NULL, NULL, "Running", "log what happens in detail", OPTION_FLAG,
     AT(is_verbose)},
    {"hz", 0, "HZ", "99", "Sampling", "samples a second for targets that ask for no rate",
     OPTION_COUNT, AT(hz)},
    {"dormant", 0, NULL, NULL, "Sampling",
     "programs that load the agent start paused, without a timer, until fleetprof ctl resume",
     OPTION_FLAG, AT(is_dormant)},
    {"unwind", 0, "auto|fp|none", "auto", "Sampling",
     "how callers are found of the whole board and of targets that do not say: auto, fp (frame "
     "pointers) or none",
     OPTION_STRING, AT(unwind_name)},
    {"window", 0, "TIME", "10s", "Sampling",
     "time that one batch covers; up to a minute when "
     "little happens",
     OPTION_DURATION, AT(window_ns)},
    {"system", 0, NULL, NULL, "Whole board",
     "sample every program and the kernel, besides what `fleetprof run` brings (root or "
     "CAP_PERFMON)",
     OPTION_FLAG, AT(is_whole_board)},
    {"system-hz", 0, "HZ", "99", "Whole board", "samples a second of each CPU that is busy",
     OPTION_COUNT, AT(system_hz)},
    {"allow", 0, "SERVICE", NULL, "Whole board",
     "ship these programs only, by file name or pattern (nginx, py*); may be given many times; the "
     "others' time is one row, [others]",
     OPTION_LIST, AT(allow)},
    {"deny", 0, "SERVICE", NULL, "Whole board",
     "do not ship these, even when they are allowed; their time is part of [others]", OPTION_LIST,
     AT(deny)},
    {"budget-debug", 0, "BYTES/day", "256M/day", "Budgets",
     "debug files sent to a collector that asks for them; 0: none are sent", OPTION_BYTES_DAY,
     AT(budget_debug_bytes_day)},
    {"budget-cpu", 0, "PERCENT", NULL, "Budgets",
     "what fleetprof may add to this board, its samples in all programs and its daemon, in percent "
     "of one CPU; rates are lowered to hold it; 0: no limit (default: 0.5%, for targets that ask "
     "for no more than --hz)",
     OPTION_PERCENT, AT(budget_cpu)},
    {"budget-bytes", 0, "BYTES/day", NULL, "Budgets",
     "what all batches of any 24 hours may come to; windows grow, then rates are lowered; 0: no "
     "limit (default: 5M/day, for targets that ask for no more than --hz)",
     OPTION_BYTES_DAY, AT(budget_bytes_day)},
};

static const char epilogue[] = "EXAMPLES\n"
                               "  fleetprofd --collector 10.0.0.1:7443\n"
                               "  fleetprofd --system --deny 'ssh*'\n"
                               "  fleetprofd --state ./board --foreground --label rack=7\n";

bool settings_path(const char *dir, const char *name, char ret[SETTINGS_PATH_BYTES]) {
  int len = snprintf(ret, SETTINGS_PATH_BYTES, "%s/%s", dir, name);
  return len > 0 && len < SETTINGS_PATH_BYTES;
}

static bool is_reserved(const char *name, size_t len) {
  static const char *const reserved[] = {"board",  "service", "exe",   "build_id",
                                         "thread", "arch",    "kernel"};
  for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
    if (strlen(reserved[i]) == len && memcmp(reserved[i], name, len) == 0) return true;
  return false;
}

/* Returns the fault of the label TEXT, or NULL. */
static const char *find_label_fault(const char *text) {
  const char *equals = strchr(text, '=');
  if (equals == NULL || equals == text) return "not of the form NAME=VALUE";
  size_t len = (size_t)(equals - text);
  if (strspn(text, WORD_LETTERS DIGITS) != len || strspn(text, WORD_LETTERS) == 0)
    return "a name is made of letters, digits and _, and begins with no digit";
  if (is_reserved(text, len)) return "this name is fleetprof's own";
  if (len > LIMIT_NAME_BYTES || strlen(text) >= LIMIT_VALUE_BYTES) return "too long";
  return NULL;
}

static int check_labels(const struct option_list *labels, char *error, size_t error_len) {
  for (unsigned i = 0; i < labels->count; i++) {
    const char *fault = find_label_fault(labels->values[i]);
    if (fault == NULL) continue;
    snprintf(error, error_len, "--label %s: %s", labels->values[i], fault);
    return -EINVAL;
  }
  return 0;
}

/* HOST:PORT or [ADDRESS]:PORT; the name is resolved later. */
static bool is_address(const char *text) {
  struct endpoint endpoint;
  if (endpoint_parse(text, &endpoint) < 0) return false;
  const char *letters = text[0] == '[' ? DIGITS "abcdefABCDEF:." : WORD_LETTERS DIGITS "-.";
  return endpoint.host[strspn(endpoint.host, letters)] == '\0';
}

static int check_board(const struct settings *s, char *error, size_t error_len) {
  if (s->system_hz < 1 || s->system_hz > HZ_MAX) {
    snprintf(error, error_len, "--system-hz: must be between 1 and %d", HZ_MAX);
    return -EINVAL;
  }
  if (!s->is_whole_board && s->allow.count + s->deny.count > 0) {
    snprintf(error, error_len, "--%s: is about the whole board: give --system too",
             s->allow.count > 0 ? "allow" : "deny");
    return -EINVAL;
  }
  return 0;
}

static int check_unwind(struct settings *s, char *error, size_t error_len) {
  int choice = unwind_choice_parse(s->unwind_name);
  bool is_known =
      choice == UNWIND_CHOICE_AUTO || choice == UNWIND_CHOICE_FP || choice == UNWIND_CHOICE_NONE;
  if (is_known) {
    s->unwind = (uint32_t)choice;
    return 0;
  }
  snprintf(error, error_len, "--unwind: '%.100s' is not auto, fp or none", s->unwind_name);
  return -EINVAL;
}

static int check(struct settings *s, char *error, size_t error_len) {
  if (s->window_ns < WINDOW_NS_MIN || s->window_ns > WINDOW_NS_MAX) {
    snprintf(error, error_len, "--window: must be between 1s and 60s");
    return -EINVAL;
  }
  if (s->spool_bytes < SPOOL_BYTES_MIN) {
    snprintf(error, error_len, "--spool-bytes: less than 1M cannot hold a batch");
    return -EINVAL;
  }
  if (s->hz < 1 || s->hz > HZ_MAX) {
    snprintf(error, error_len, "--hz: must be between 1 and %d", HZ_MAX);
    return -EINVAL;
  }
  long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  if (s->budget_cpu > 100.0 * (double)(cpus > 0 ? cpus : 1)) {
    snprintf(error, error_len, "--budget-cpu: is of one CPU; the %ld here are %ld%%", cpus,
             100 * cpus);
    return -EINVAL;
  }
  if (s->collector != NULL && s->collector[0] != '\0' && !is_address(s->collector)) {
    snprintf(error, error_len, "--collector %s: not of the form HOST:PORT", s->collector);
    return -EINVAL;
  }
  int failure = check_board(s, error, error_len);
  if (!failure) failure = check_unwind(s, error, error_len);
  return failure ? failure : check_labels(&s->labels, error, error_len);
}

/* GIVEN as an absolute path: the daemon leaves the current directory. */
static int make_absolute(const char *given, char ret[SETTINGS_PATH_BYTES]) {
  char here[SETTINGS_PATH_BYTES];
  int len;
  if (given[0] == '/') {
    len = snprintf(ret, SETTINGS_PATH_BYTES, "%s", given);
  } else {
    if (getcwd(here, sizeof here) == NULL) return -errno;
    len = snprintf(ret, SETTINGS_PATH_BYTES, "%s/%s", here, given);
  }
  return len <= 0 || len >= SETTINGS_PATH_BYTES ? -ENAMETOOLONG : 0;
}

static int place_given(struct settings *s) {
  int error = make_absolute(s->state, s->state_dir);
  if (error) return error;
  memcpy(s->runtime_dir, s->state_dir, sizeof s->runtime_dir);
  return 0;
}

static int place_user_state(struct settings *s) {
  const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  if (state != NULL && state[0] == '/')
    return settings_path(state, "fleetprof", s->state_dir) ? 0 : -ENAMETOOLONG;
  if (home == NULL || home[0] != '/') return -ENOENT;
  return settings_path(home, ".local/state/fleetprof", s->state_dir) ? 0 : -ENAMETOOLONG;
}

static int place_default(struct settings *s) {
  struct socket_places places = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), geteuid()};
  if (geteuid() == 0) {
    s->is_system = true;
    snprintf(s->state_dir, sizeof s->state_dir, "/var/lib/fleetprof");
    return socket_path_dir(&places, SOCKET_PLACE_SYSTEM, s->runtime_dir);
  }
  int error = place_user_state(s);
  if (error) return error;
  error = socket_path_dir(&places, SOCKET_PLACE_RUNTIME, s->runtime_dir);
  return error ? socket_path_dir(&places, SOCKET_PLACE_TEMP, s->runtime_dir) : 0;
}

static void fill_budgets(struct settings *s) {
  s->is_budget_cpu_given = s->budget_cpu >= 0;
  s->is_budget_bytes_given = s->budget_bytes_day != BUDGET_BYTES_NOT_GIVEN;
  if (!s->is_budget_cpu_given) s->budget_cpu = BUDGET_CPU_PERCENT;
  if (!s->is_budget_bytes_given) s->budget_bytes_day = BUDGET_BYTES_DAY;
}

int settings_parse(int argc, char *const argv[], struct settings *settings,
                   struct options_result *ret, char *error, size_t error_len) {
  const struct option_table table = {
      .usage = "fleetprofd [OPTION]...",
      .summary =
          "Collects samples from the programs of this board and ships them to the collector.",
      .epilogue = epilogue,
      .rows = rows,
      .row_count = sizeof rows / sizeof rows[0]};
  memset(settings, 0, sizeof *settings);
  settings->budget_cpu = BUDGET_CPU_NOT_GIVEN;
  settings->budget_bytes_day = BUDGET_BYTES_NOT_GIVEN;
  int failure = options_parse(&table, argc, argv, settings, ret, error, error_len);
  if (failure || ret->is_done) return failure;
  fill_budgets(settings);
  if (ret->first_positional < argc) {
    snprintf(error, error_len, "%s: not an option", argv[ret->first_positional]);
    return -EINVAL;
  }
  failure = check(settings, error, error_len);
  if (failure) return failure;
  failure = settings->state ? place_given(settings) : place_default(settings);
  if (failure)
    snprintf(error, error_len, "no place for the state: %s (give --state DIR, or set HOME)",
             strerror(-failure));
  if (failure || settings->output == NULL) return failure;
  failure = make_absolute(settings->output, settings->output_path);
  if (failure) snprintf(error, error_len, "--output: %s", strerror(-failure));
  return failure;
}

static bool is_empty(const char *path) {
  unsigned names = 0;
  DIR *entries = opendir(path);
  if (entries == NULL) return false;
  while (names <= 2 && readdir(entries) != NULL) names++;
  closedir(entries);
  return names <= 2; /* itself and its parent */
}

/* Removes write permission for others from a folder if it has a board's state or is empty.  The
   root of a new tmpfs, for example, is writable by all users. /tmp itself is neither. */
static bool close_to_others(const char *path, mode_t mode) {
  char key[SETTINGS_PATH_BYTES];
  bool is_state = settings_path(path, "board.key", key) && access(key, F_OK) == 0;
  return (is_state || is_empty(path)) && chmod(path, mode & 0777 & ~(mode_t)S_IWOTH) == 0;
}

static int make_dir(const char *path, mode_t mode, char *error, size_t error_len) {
  struct stat found;
  int failure = path_make_dirs(path, mode);
  if (failure == 0 && stat(path, &found) < 0) failure = -errno;
  if (failure < 0) {
    snprintf(error, error_len, "%s: %s", path, strerror(-failure));
    return failure;
  }
  bool is_ours = S_ISDIR(found.st_mode) && found.st_uid == geteuid();
  if (is_ours && (found.st_mode & S_IWOTH) == 0) return 0;
  if (is_ours && close_to_others(path, found.st_mode)) return 0;
  snprintf(error, error_len, "%s: %s", path,
           is_ours ? "everybody may write there (chmod o-w)" : "not a directory of yours");
  return -EPERM;
}

static int check_closed(const char *path, char *error, size_t error_len) {
  struct stat found;
  if (lstat(path, &found) < 0) {
    snprintf(error, error_len, "%s: %s", path, strerror(errno));
    return -errno;
  }
  if (S_ISDIR(found.st_mode) && found.st_uid == geteuid() && (found.st_mode & 077) == 0) return 0;
  snprintf(error, error_len, "%s: must be a directory of yours (no link) with mode 0700", path);
  return -EPERM;
}

int settings_make_dirs(const struct settings *settings, char *error, size_t error_len) {
  int failure = make_dir(settings->state_dir, 0700, error, error_len);
  if (failure || strcmp(settings->state_dir, settings->runtime_dir) == 0) return failure;
  failure = make_dir(settings->runtime_dir, settings->is_system ? 0711 : 0700, error, error_len);
  return failure || settings->is_system ? failure
                                        : check_closed(settings->runtime_dir, error, error_len);
}

bool settings_collector(const struct settings *settings, char *ret, size_t len) {
  char path[SETTINGS_PATH_BYTES];
  if (settings->collector != NULL && settings->collector[0] != '\0')
    return (size_t)snprintf(ret, len, "%s", settings->collector) < len;
  if (!settings_path(settings->state_dir, "collector", path)) return false;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t got = read(fd, ret, len - 1);
  close(fd);
  if (got <= 0) return false;
  ret[got] = '\0';
  ret[strcspn(ret, " \t\r\n")] = '\0';
  return ret[0] != '\0';
}
