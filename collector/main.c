/* SPDX-License-Identifier: Apache-2.0 */
/* The collector: opens the folder DIR, starts ingest and HTTP, and runs one loop until it is
   stopped.

   The order matters. The lock is first: two collectors on one folder would each trust their own
   copy of the data. Then both addresses are tried, so that a folder made for a collector that
   cannot listen is deleted again. The symbolizer precedes all threads, because it forks. Ingest and
   HTTP are last, so that a peer finds all parts ready. Shutdown has the reverse order, with a time
   limit for each step. Acked data is durable already, so if a step hangs nonetheless, an alarm ends
   the process without loss. */
#include "accept_command.h"
#include "backup/backup.h"
#include "backup/folder_walk.h"
#include "backup_command.h"
#include "board_arch.h"
#include "common/clock.h"
#include "common/heap.h"
#include "common/log.h"
#include "common/service_notify.h"
#include "common/text.h"
#include "http/http.h"
#include "identity/access.h"
#include "identity/access_loss.h"
#include "identity/authority.h"
#include "identity/ca.h"
#include "ingest/ingest.h"
#include "ingest/listener.h"
#include "ingest/trusted_file.h"
#include "ingest/trusted_time.h"
#include "names/debug_db.h"
#include "names/debug_store.h"
#include "names/debuginfod.h"
#include "names/names_metrics.h"
#include "names/source_store.h"
#include "names/symbolizer.h"
#include "proto/limits.h"
#include "reload.h"
#include "reserve.h"
#include "retention.h"
#include "rollover_command.h"
#include "settings.h"
#include "sqlite/sqlite_log.h"
#include "store/file_version.h"
#include "store/store.h"
#include "tokens_command.h"
#include "translators/translator_pool.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/thread.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

enum {
  LOCK_TRIES = 20, /* one second in total */
  EXIT_DONE = 0,
  EXIT_FAILED = 1,
  EXIT_USAGE = 2,
  STOP_SECONDS = 9, /* the service manager waits for 10 s */
  ERROR_BYTES = 512,
  PATH_BYTES = 4096,
};

struct collector {
  int argc;
  char **argv;
  struct settings settings;
  int lock_fd;
  bool is_new; /* the folder did not exist before */
  struct debug_store *debug;
  struct source_store *sources;
  struct symbolizer *symbolizer;
  struct translator_pool *translators;
  struct board_arch *arches;
  struct store *store;
  struct access *access;
  struct ca *ca;
  struct event_base *loop;
  struct event *stop_events[2], *alive;
  struct service_notify notify;
  struct trusted_time *time;
  struct retention *retention;
  struct reload *reload;
  struct debuginfod *debuginfod;
  struct quotas *quotas;
  struct ingest *ingest;
  struct http *http;
  char error[ERROR_BYTES];
};

/* Takes the lock, with retries. The lock of a collector that was just killed stays held until its
   newly forked children have called exec. Its supervisor may start the next collector at once. */
static int take_lock(int fd) {
  static const struct timespec moment = {.tv_nsec = 50 * NS_PER_MS};
  for (unsigned tries = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; tries++) {
    if (errno != EWOULDBLOCK || tries == LOCK_TRIES) return -errno;
    nanosleep(&moment, NULL);
  }
  return 0;
}

/* Disables core files: the process has the fleet's keys in memory, and a core file would expose
   them. To get a core file, raise the limit with prlimit. */
static void keep_no_core(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_CORE, &limit) != 0) return;
  limit.rlim_cur = 0;
  setrlimit(RLIMIT_CORE, &limit);
}

/* Returns the name of DIR's network file system, or NULL. SQLite's WAL needs shared memory, which
   hosts do not share through it; and a server that loses a lock lets two collectors write. */
static const char *network_name(const char *dir) {
  static const struct {
    long type;
    const char *name;
  } rows[] = {{0x6969, "NFS"},     {0xff534d42, "CIFS"}, {0xfe534d42, "SMB"},  {0x517b, "SMB"},
              {0x5346414f, "AFS"}, {0x6b414653, "AFS"},  {0x00c36400, "Ceph"}, {0x01021997, "9P"}};
  struct statfs fs;
  if (statfs(dir, &fs) != 0) return NULL;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if ((uint32_t)fs.f_type == (uint32_t)rows[i].type) return rows[i].name;
  return NULL;
}

/* Earlier versions created some files with the default umask. */
static void make_private(const char *dir) {
  unsigned changed = folder_make_private(dir);
  if (changed > 0) log_info("files %s: %u are their owner's alone now", dir, changed);
}

/* Makes DIR and takes its lock. */
static int lock_data(struct collector *collector) {
  const char *dir = collector->settings.data;
  char path[PATH_BYTES];
  collector->is_new = mkdir(dir, 0700) == 0;
  if (!collector->is_new && errno != EEXIST) {
    int failed = -errno;
    snprintf(collector->error, ERROR_BYTES, "--data %s: %s", dir, strerror(-failed));
    return failed;
  }
  const char *network = network_name(dir);
  if (network != NULL) {
    snprintf(collector->error, ERROR_BYTES,
             "--data %s: is on %s: its databases need a local disk; give another folder", dir,
             network);
    return -EOPNOTSUPP;
  }
  snprintf(path, sizeof path, "%s/lock", dir);
  collector->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  int failed = collector->lock_fd >= 0 ? take_lock(collector->lock_fd) : -errno;
  if (failed == 0) make_private(dir);
  if (failed == 0) return 0;
  if (failed == -EWOULDBLOCK)
    snprintf(collector->error, ERROR_BYTES,
             "--data %s: another collector runs on this folder; stop it or give another folder",
             dir);
  else
    snprintf(collector->error, ERROR_BYTES, "--data %s: its lock: %s", dir, strerror(-failed));
  return failed;
}

static int try_doors(struct collector *collector) {
  const struct {
    const char *option, *address;
  } doors[] = {{"http", collector->settings.http}, {"agents", collector->settings.agents}};
  char why[ERROR_BYTES / 2], path[PATH_BYTES];
  for (size_t i = 0; i < sizeof doors / sizeof *doors; i++) {
    int failed = listener_try(doors[i].address, why, sizeof why);
    if (failed == 0) continue;
    snprintf(collector->error, ERROR_BYTES, "--%s %s: %s; give another", doors[i].option,
             doors[i].address, why);
    snprintf(path, sizeof path, "%s/lock", collector->settings.data);
    if (collector->is_new && unlink(path) == 0) rmdir(collector->settings.data);
    return failed;
  }
  return 0;
}

/* Raises the limit of descriptors as far as allowed: each board and HTTP client needs one. Fails if
   there are too few to open files later. */
static int raise_limits(char *error) {
  struct rlimit limit, more;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  more = (struct rlimit){limit.rlim_max, limit.rlim_max};
  if (setrlimit(RLIMIT_NOFILE, &more) == 0)
    limit = more;
  else
    log_debug("limits descriptors: stay as they are: %s", strerror(errno));
  if (limit.rlim_cur >= LIMIT_COLLECTOR_FILES_MIN) return 0;
  snprintf(error, ERROR_BYTES,
           "open files: %llu are too few, a collector needs %d: raise the limit (ulimit -n, or "
           "LimitNOFILE= of its unit)",
           (unsigned long long)limit.rlim_cur, LIMIT_COLLECTOR_FILES_MIN);
  return -EMFILE;
}

/* Fails before anything is opened, and thereby changed, if a file is of a newer version. */
static int check_versions(const char *dir, char *error) {
  int failed = file_version_look(dir, error, ERROR_BYTES);
  if (!failed) failed = file_version_check(dir, "access.db", ACCESS_VERSION, error, ERROR_BYTES);
  if (!failed) failed = file_version_check(dir, "debug.db", DEBUG_DB_VERSION, error, ERROR_BYTES);
  return failed;
}

/* Sets the names under which clients reach this server in its certificate. */
static int name_server(struct collector *collector) {
  char names[AUTHORITY_NAMES_BYTES];
  snprintf(collector->error, ERROR_BYTES, "certificate authority: too many names");
  int failed = settings_names(&collector->settings, names);
  return failed ? failed : ca_set_names(collector->ca, names, collector->error, ERROR_BYTES);
}

static bool is_known_root(void *context, uint64_t root) {
  return access_check_roots(context, root, 0, false) != -EXDEV;
}

/* Boards trust the authority's root alone. A new root would lock out all of them, and another
   fleet's root would admit that fleet. */
static int open_authority(struct collector *collector) {
  static const char remedy[] = "restore a backup, or run fleetprof-collector accept --data DIR: "
                               "then every board must enroll anew";
  const char *dir = collector->settings.data;
  int known = access_check_roots(collector->access, 0, 0, false);
  if (known == 1 && ca_look(dir) == -ENOENT) {
    snprintf(collector->error, ERROR_BYTES, "%s/ca: the root certificate is gone: %s", dir, remedy);
    return -ENOENT;
  }
  char why[ERROR_BYTES / 2];
  int failed = ca_open(dir, &collector->ca, why, sizeof why);
  if (failed) {
    snprintf(collector->error, ERROR_BYTES, "%s%s%s", why, failed == -EBADMSG ? ": " : "",
             failed == -EBADMSG ? remedy : "");
    return failed;
  }
  failed = access_check_roots(collector->access, ca_first_id(collector->ca),
                              ca_next_id(collector->ca), false);
  if (failed == -EXDEV)
    snprintf(collector->error, ERROR_BYTES,
             "%s/ca: the root certificate is none that this collector has had: %s", dir, remedy);
  else if (failed) /* a full disk: the next start tries again */
    log_warn("access-mark %s/access.db: the root certificate cannot be noted: %s", dir,
             strerror(-failed));
  ca_set_judge(collector->ca, is_known_root, collector->access);
  return failed == -EXDEV ? failed : 0;
}

/* Resumes the clock state of the previous collector, as far as it is from this boot. */
static int open_time(struct collector *collector) {
  const char *dir = collector->settings.data;
  uint8_t boot_id[TRUST_BOOT_ID_BYTES];
  struct trusted_kept kept;
  snprintf(collector->error, ERROR_BYTES, "clock: no memory or no random numbers");
  collector->time = trusted_time_new();
  if (collector->time == NULL) return -ENOMEM;
  int failed = trusted_file_read(dir, &kept);
  if (failed && failed != -ENOENT)
    log_warn("collector-clock %s/clock: begun anew: %s", dir,
             failed == -EBADMSG ? "is not what was written" : strerror(-failed));
  clock_boot_id(boot_id);
  trusted_time_resume(collector->time, &kept, boot_id, clock_boottime_ns());
  trusted_time_look(collector->time, clock_walltime_ns(), clock_boottime_ns());
  return 0;
}

static int open_parts(struct collector *collector) {
  const char *dir = collector->settings.data;
  char *error = collector->error;
  int failed = open_time(collector);
  if (!failed) failed = backup_look(dir, error, ERROR_BYTES);
  if (!failed) failed = check_versions(dir, error);
  if (!failed) failed = debug_store_open(dir, &collector->debug, error, ERROR_BYTES);
  if (!failed)
    failed = symbolizer_open(collector->debug, &collector->symbolizer, error, ERROR_BYTES);
  if (!failed) failed = source_store_open(dir, &collector->sources, error, ERROR_BYTES);
  if (!failed) failed = store_open(dir, &collector->store, error, ERROR_BYTES);
  if (!failed) debug_store_mark(collector->debug, dir);
  if (!failed) failed = access_open(dir, &collector->access, error, ERROR_BYTES);
  if (!failed) failed = open_authority(collector);
  if (!failed) failed = name_server(collector);
  if (!failed)
    ca_set_board_life(collector->ca, collector->settings.certificate_life_ns / NS_PER_SECOND);
  return failed;
}

static void on_stop(evutil_socket_t signal_number, short what, void *arg) {
  (void)signal_number, (void)what;
  struct collector *collector = arg;
  alarm(STOP_SECONDS);
  service_notify_send(&collector->notify, "STOPPING=1");
  event_base_loopexit(collector->loop, NULL);
}

static void on_overdue(int signal_number) {
  (void)signal_number;
  static const char line[] = "warn stop collector: took too long: ended where it was\n";
  if (write(STDERR_FILENO, line, sizeof line - 1) < 0) _exit(EXIT_DONE);
  _exit(EXIT_DONE);
}

static void on_alive(evutil_socket_t fd, short what, void *arg) {
  (void)fd, (void)what;
  struct collector *collector = arg;
  service_notify_send(&collector->notify, "WATCHDOG=1");
}

/* Notifies a service manager's watchdog from the loop itself, since all answers depend on the
   loop. */
static int open_watchdog(struct collector *collector) {
  uint64_t ms = collector->notify.period_ms;
  const struct timeval period = {.tv_sec = (time_t)(ms / 1000),
                                 .tv_usec = (suseconds_t)(ms % 1000 * 1000)};
  if (ms == 0) return 0;
  collector->alive = event_new(collector->loop, -1, EV_PERSIST, on_alive, collector);
  return collector->alive != NULL && event_add(collector->alive, &period) == 0 ? 0 : -ENOMEM;
}

static int open_loop(struct collector *collector) {
  static const int stop_signals[] = {SIGTERM, SIGINT};
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_IGN); /* until reload is started */
  signal(SIGALRM, on_overdue);
  snprintf(collector->error, ERROR_BYTES, "loop: cannot be made");
  if (evthread_use_pthreads() != 0) return -ENOMEM;
  collector->loop = event_base_new();
  if (collector->loop == NULL) return -ENOMEM;
  for (size_t i = 0; i < sizeof stop_signals / sizeof *stop_signals; i++) {
    struct event *event = evsignal_new(collector->loop, stop_signals[i], on_stop, collector);
    collector->stop_events[i] = event;
    if (event == NULL || event_add(event, NULL) != 0) return -ENOMEM;
  }
  return open_watchdog(collector);
}

static void print_metrics(void *context, void *buf) {
  struct collector *collector = context;
  store_metrics(collector->store, buf);
  ingest_metrics(collector->ingest, buf);
  quotas_metrics(collector->quotas, buf);
  names_metrics_print(collector->debug, buf);
  if (collector->translators != NULL) translator_pool_metrics(collector->translators, buf);
}

static int64_t revoked_s(void *context, const char *board) {
  struct collector *collector = context;
  return collector->ingest != NULL ? ingest_revoked_s(collector->ingest, board) : 0;
}

static int open_quotas(struct collector *collector) {
  const struct quota_limits limits = settings_quotas(&collector->settings);
  collector->quotas = quotas_new(&limits);
  if (collector->quotas != NULL) return 0;
  snprintf(collector->error, ERROR_BYTES, "quotas: no memory or no random numbers");
  return -ENOMEM;
}

static int start_doors(struct collector *collector) {
  const struct settings *settings = &collector->settings;
  const struct http_parts http = {
      .loop = collector->loop,
      .ca = collector->ca,
      .access = collector->access,
      .store = collector->store,
      .debug = collector->debug,
      .sources = collector->sources,
      .symbolizer = collector->symbolizer,
      .quotas = collector->quotas,
      .address = settings->http,
      .public_name = settings->public_names.count > 0 ? settings->public_names.values[0] : NULL,
      .metrics = print_metrics,
      .metrics_context = collector,
      .revoked_s = revoked_s,
      .revoked_context = collector,
      .watched = &settings->watched,
      .watched_by = settings->watched_by};
  int failed = http_start(&http, &collector->http, collector->error, ERROR_BYTES);
  if (failed) return failed;
  http_set_memory_limit(collector->http, settings_memory_limit(settings));
  const struct ingest_parts ingest = {.loop = collector->loop,
                                      .ca = collector->ca,
                                      .access = collector->access,
                                      .store = collector->store,
                                      .debug = collector->debug,
                                      .symbolizer = collector->symbolizer,
                                      .address = settings->agents,
                                      .quotas = collector->quotas,
                                      .time = collector->time,
                                      .memory_limit_bytes = settings_memory_limit(settings),
                                      .handshakes_per_address =
                                          (unsigned)settings->handshakes_per_address,
                                      .board_cpus_max = (uint32_t)settings->board_cpus_max,
                                      .page_url = http_page_url(collector->http)};
  return ingest_start(&ingest, &collector->ingest, collector->error, ERROR_BYTES);
}

/* After the loop, which ignores SIGPIPE. */
static int open_translators(struct collector *collector) {
  const char *rules = collector->settings.translators;
  if (rules == NULL) return 0;
  snprintf(collector->error, ERROR_BYTES, "--translators: out of memory");
  collector->arches = board_arch_new(collector->store);
  if (collector->arches == NULL) return -ENOMEM;
  const struct translator_parts parts = {
      .rules_path = rules, .arch_of = board_arch_find, .context = collector->arches};
  int failed = translator_pool_open(&parts, &collector->translators, collector->error, ERROR_BYTES);
  if (!failed) symbolizer_set_translators(collector->symbolizer, collector->translators);
  return failed;
}

static int start_reload(struct collector *collector) {
  const struct reload_parts parts = {.argc = collector->argc,
                                     .argv = collector->argv,
                                     .settings = &collector->settings,
                                     .quotas = collector->quotas,
                                     .http = collector->http,
                                     .ingest = collector->ingest,
                                     .retention = collector->retention,
                                     .ca = collector->ca,
                                     .notify = &collector->notify};
  snprintf(collector->error, ERROR_BYTES, "reload: not enough memory");
  return reload_start(collector->loop, &parts, &collector->reload);
}

static int start(struct collector *collector) {
  heap_keep();
  keep_no_core();
  int failed = raise_limits(collector->error);
  if (!failed) failed = lock_data(collector);
  if (!failed) failed = try_doors(collector);
  if (!failed) reserve_release(collector->settings.data);
  if (!failed) failed = open_parts(collector);
  if (!failed) failed = open_loop(collector);
  if (!failed) failed = open_translators(collector);
  if (!failed) failed = open_quotas(collector);
  if (!failed) failed = start_doors(collector);
  if (!failed) symbolizer_start(collector->symbolizer);
  if (!failed) {
    snprintf(collector->error, ERROR_BYTES, "retention: its thread cannot be started");
    const struct retention_limits limits = settings_retention(&collector->settings);
    failed = retention_start(collector->settings.data, collector->store, collector->time, &limits,
                             &collector->retention);
  }
  if (!failed) failed = start_reload(collector);
  const char *urls = collector->settings.debuginfod;
  if (!failed && urls != NULL && *urls != '\0') {
    snprintf(collector->error, ERROR_BYTES, "debuginfod: its thread cannot be started");
    failed =
        debuginfod_start(urls, collector->debug, collector->symbolizer, &collector->debuginfod);
  }
  return failed;
}

/* Stops all parts. Returns false if a query or a download still runs: then the process can only
   exit. */
static bool stop(struct collector *collector) {
  reload_stop(collector->reload);
  if (collector->ingest) ingest_stop(collector->ingest);
  bool is_asking = debuginfod_stop(collector->debuginfod) != 0;
  if (http_stop(collector->http) != 0 || is_asking) return false;
  ingest_free(collector->ingest); /* not before http_stop: a scrape may need its figures */
  retention_stop(collector->retention);
  for (size_t i = 0; i < sizeof collector->stop_events / sizeof *collector->stop_events; i++)
    if (collector->stop_events[i]) event_free(collector->stop_events[i]);
  if (collector->alive) event_free(collector->alive);
  if (collector->loop) event_base_free(collector->loop);
  translator_pool_close(collector->translators);
  board_arch_free(collector->arches);
  symbolizer_close(collector->symbolizer);
  debug_store_close(collector->debug);
  source_store_close(collector->sources);
  store_close(collector->store);
  quotas_free(collector->quotas);
  trusted_time_free(collector->time);
  access_close(collector->access);
  ca_close(collector->ca);
  if (collector->lock_fd >= 0) close(collector->lock_fd);
  return true;
}

static int serve(struct collector *collector) {
  int failed = start(collector);
  if (failed) {
    text_print(stderr, "fleetprof-collector: %s", collector->error);
  } else {
    const char *agents = collector->settings.agents;
    int host_len = (int)(strrchr(agents, ':') - agents);
    log_info("ready collector: %s, boards at %.*s:%u", http_url(collector->http), host_len, agents,
             ingest_port(collector->ingest));
    service_notify_send(&collector->notify, "READY=1");
    event_base_dispatch(collector->loop);
  }
  if (!stop(collector)) {
    log_warn("stop collector: a query or a download still ran: given up");
    _exit(failed ? EXIT_FAILED : EXIT_DONE);
  }
  return failed ? EXIT_FAILED : EXIT_DONE;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
  } subcommands[] = {{"token", tokens_command_token},     {"revoke", tokens_command_revoke},
                     {"rollover", rollover_command},      {"backup", backup_command_backup},
                     {"restore", backup_command_restore}, {"check", backup_command_check},
                     {"accept", accept_command}};
  umask(0077); /* all files of the folder, SQLite's too, are private to their owner */
  for (size_t i = 0; argc > 1 && i < sizeof subcommands / sizeof *subcommands; i++)
    if (strcmp(argv[1], subcommands[i].name) == 0) return subcommands[i].run(argc - 1, argv + 1);

  static struct collector collector = {.lock_fd = -1};
  collector.argc = argc;
  collector.argv = argv;
  int failed = settings_read(argc, argv, &collector.settings, collector.error, ERROR_BYTES);
  if (failed < 0) {
    text_print(stderr, "fleetprof-collector: %s", collector.error);
    return EXIT_USAGE;
  }
  if (failed == 1) return EXIT_DONE;
  service_notify_open(&collector.notify);
  if (collector.settings.verbose) log_set_level(LOG_LEVEL_DEBUG);
  sqlite_log_start();
  return serve(&collector);
}
