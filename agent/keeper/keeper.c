/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor processes no untrusted data, parses nothing and allocates only for its table.  It
   should never die, because its resources are those that survive kill -9 of the worker.  These are
   the memory of rings and tables (memfds), perf events and their rings, the listening socket with
   its pending connections, and the counters.  A perf ring is destroyed with its last mapping, so
   the supervisor keeps a mapping.

      supervisor ──fork──▶ worker    the worker inherits everything, table included
        ▲ ◀──hold/drop────┘         and adds to it by messages (hold.h)

   A worker that dies is restarted after 100 ms, then 200 ms, ... up to 10 s while it keeps dying
   early.  Every start gets a new socket pair, so an answer for the dead worker is never read by the
   next.

   Shutdown: TERM is passed on; the worker drains, spools and exits.  After STOP_WAIT_MS the
   supervisor exits without it (the worker sees the end of the socket pair and spools all the
   same). */
#include "keeper.h"
#include "board_events.h"
#include "listener.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/owned_path.h"
#include "spool/profile_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  STOP_WAIT_MS = 8000, /* TERM must suffice within 10 s */
  BACKOFF_MS_MIN = 100,
  BACKOFF_MS_MAX = 10000,
  COMMAND_BYTES = 4096,
  GOOD_LIFE_MS = 10000, /* a worker with this lifetime resets the back-off */
};

static int fail(char *error, size_t error_len, const char *what, int failure) {
  snprintf(error, error_len, "%s: %s", what, strerror(-failure));
  return failure;
}

/* Whether `fleetprof run` started PID, by its command line. */
static bool is_on_demand(const char *pid) {
  static const char word[] = "--on-demand";
  char path[64], line[COMMAND_BYTES];
  snprintf(path, sizeof path, "/proc/%.16s/cmdline", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t len = fd >= 0 ? read(fd, line, sizeof line) : -1;
  if (fd >= 0) close(fd);
  return len > 0 && memmem(line, (size_t)len, word, sizeof word) != NULL; /* with its NUL */
}

/* Writes to ERROR that the daemon PID has DIR, and the remedy. */
static void tell_other(const char *dir, const char *pid, char *error, size_t error_len) {
  if (is_on_demand(pid))
    snprintf(error, error_len,
             "%s: another daemon (pid %s) runs here, which 'fleetprof run' started: end it by "
             "'kill %s', what it has not sent yet is sent by this one; or wait, it ends a minute "
             "after its last program",
             dir, pid, pid);
  else
    snprintf(error, error_len,
             "%s: another daemon (pid %s) runs here: 'fleetprof status' says what it does; end it "
             "first (kill %s, or systemctl stop where systemd started it), or give this one "
             "another --state",
             dir, pid[0] ? pid : "?", pid[0] ? pid : "PID");
}

/* Locks NAME in DIR for as long as the descriptor is open, however this process ends.  If it is
   locked already, the holder's pid is read from it. */
static int lock_dir(const char *dir, const char *name, int *ret_fd, char *error, size_t error_len) {
  char path[SETTINGS_PATH_BYTES], pid[16] = "";
  if (!settings_path(dir, name, path)) return -ENAMETOOLONG;
  int fd = *ret_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) return fail(error, error_len, path, -errno);
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return 0;
  if (errno != EWOULDBLOCK) return fail(error, error_len, path, -errno);
  ssize_t got = pread(fd, pid, sizeof pid - 1, 0);
  pid[got > 0 ? got : 0] = '\0';
  pid[strcspn(pid, "\n")] = '\0';
  tell_other(dir, pid, error, error_len);
  return -EEXIST;
}

/* Locks the pid file next to the socket, and a file next to the spool: one state may be used by its
   default place and by --state, which have different sockets. */
static int lock_state(struct keeper *keeper, char *error, size_t error_len) {
  const struct settings *settings = keeper->settings;
  int failure =
      lock_dir(settings->runtime_dir, "fleetprofd.pid", &keeper->pid_file, error, error_len);
  if (failure) return failure;
  return lock_dir(settings->state_dir, "fleetprofd.lock", &keeper->state_lock, error, error_len);
}

static int write_number(int fd) {
  char text[16];
  int len = snprintf(text, sizeof text, "%d\n", (int)getpid());
  if (ftruncate(fd, 0) < 0) return -errno;
  return pwrite(fd, text, (size_t)len, 0) == len ? 0 : -EIO;
}

static int write_pid(const struct keeper *keeper) {
  int failure = write_number(keeper->pid_file);
  if (!failure) write_number(keeper->state_lock); /* for the error message; the disk may be full */
  return failure;
}

static int open_books(struct keeper *keeper, char *error, size_t error_len) {
  char path[SETTINGS_PATH_BYTES];
  do {
    if (getrandom(&keeper->run, sizeof keeper->run, 0) != (ssize_t)sizeof keeper->run)
      return fail(error, error_len, "getrandom", -errno);
  } while (keeper->run == 0);
  if (!settings_path(keeper->settings->runtime_dir, "books", path)) return -ENAMETOOLONG;
  int failure = counter_page_open(path, keeper->run, &keeper->page);
  return failure ? fail(error, error_len, path, failure) : 0;
}

/* Opened and checked here.  So a file that is not a profile is reported at the start, and the
   worker's death does not close the file. */
static int open_output(struct keeper *keeper, char *error, size_t error_len) {
  struct profile_file file;
  const char *path = keeper->settings->output_path;
  if (path[0] == '\0') return 0;
  keeper->output = profile_file_open(path);
  int failure = keeper->output < 0 ? keeper->output : profile_file_resume(keeper->output, &file);
  if (failure == -EBADMSG)
    snprintf(error, error_len, "%s: holds something else than a profile; give another file", path);
  else if (failure)
    snprintf(error, error_len, "%s: %s", path, owned_path_why(failure));
  return failure;
}

int keeper_open(const struct settings *settings, struct keeper *keeper, char *error,
                size_t error_len) {
  *keeper = (struct keeper){.settings = settings,
                            .pid_file = -1,
                            .state_lock = -1,
                            .listener = -1,
                            .output = -1,
                            .tables = {.fd = -1, .reader = -1},
                            .worker_socket = -1};
  keeper->start_boottime_ns = clock_boottime_ns();
  int failure = settings_make_dirs(settings, error, error_len);
  if (!failure) failure = lock_state(keeper, error, error_len);
  if (!failure) failure = open_books(keeper, error, error_len);
  if (!failure) failure = open_output(keeper, error, error_len);
  if (failure) return failure;
  perf_rings_open(&keeper->perf);
  int no_tables = table_memory_open(&keeper->tables);
  if (no_tables) log_warn("tables: no memory to share: %s", strerror(-no_tables));
  if (settings->is_whole_board) {
    failure = board_events_open(&keeper->perf, settings, &keeper->held, error, error_len);
    if (failure) return failure;
  }
  keeper->listener = listener_open(settings->runtime_dir, settings->is_system);
  if (keeper->listener < 0) return fail(error, error_len, settings->runtime_dir, keeper->listener);
  porter_open(&keeper->porter, keeper->listener);
  failure = write_pid(keeper);
  return failure ? fail(error, error_len, "fleetprofd.pid", failure) : 0;
}

void keeper_stop_listening(struct keeper *keeper) {
  char path[SETTINGS_PATH_BYTES];
  const char *dir = keeper->settings->runtime_dir;
  if (keeper->listener < 0) return;
  listener_close(keeper->listener, dir);
  keeper->listener = -1;
  if (settings_path(dir, "fleetprofd.pid", path)) unlink(path);
}

void keeper_close(struct keeper *keeper) {
  keeper_stop_listening(keeper);
  porter_close(&keeper->porter);
  if (keeper->pid_file >= 0) close(keeper->pid_file);
  if (keeper->state_lock >= 0) close(keeper->state_lock);
  if (keeper->output >= 0) close(keeper->output);
  perf_rings_close(&keeper->perf);
  table_memory_close(&keeper->tables);
  hold_table_fini(&keeper->held);
  counter_page_close(keeper->page);
}

/* Blocks the supervisor's signals and returns a descriptor for them. */
static int open_signals(sigset_t *ret_before) {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGCHLD);
  sigaddset(&wanted, SIGTERM);
  sigaddset(&wanted, SIGINT);
  sigprocmask(SIG_BLOCK, &wanted, ret_before);
  return signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* State of the supervisor's loop. */
struct watch {
  int signals;
  sigset_t mask;
  pid_t worker; /* 0: none runs */
  int status;   /* of the last worker that ended */
  bool is_stopping;
  bool is_told; /* "ready" was sent to the service manager */
  uint64_t started_ms, start_at_ms, stop_by_ms;
  uint64_t backoff_ms;
  uint64_t alive_at_ms; /* next watchdog message to the service manager; 0: never */
};

static uint64_t now_ms(void) {
  return clock_monotonic_ns() / NS_PER_MS;
}

static int start_worker(struct keeper *keeper, keeper_worker *run, struct watch *watch) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) return -errno;
  keeper->worker_starts++;
  pid_t pid = fork();
  if (pid == 0) {
    close(pair[0]);
    close(watch->signals); /* the lock stays open: no other daemon while a worker still spools */
    keeper->worker_socket = pair[1];
    sigprocmask(SIG_SETMASK, &watch->mask, NULL);
    _exit(run(keeper));
  }
  close(pair[1]);
  if (pid < 0) {
    int failure = -errno;
    close(pair[0]);
    return failure;
  }
  keeper->worker_socket = pair[0];
  watch->worker = pid;
  watch->started_ms = now_ms();
  return 0;
}

static void plan_restart(struct watch *watch) {
  uint64_t now = now_ms();
  bool lived_well = now - watch->started_ms >= GOOD_LIFE_MS;
  watch->start_at_ms = now + (lived_well ? BACKOFF_MS_MIN : watch->backoff_ms);
  watch->backoff_ms = lived_well ? BACKOFF_MS_MIN : watch->backoff_ms * 2;
  if (watch->backoff_ms > BACKOFF_MS_MAX) watch->backoff_ms = BACKOFF_MS_MAX;
}

static void serve_all(struct keeper *keeper) {
  while (hold_serve(keeper->worker_socket, &keeper->held) == 0) {
  }
}

static void on_child(struct keeper *keeper, struct watch *watch) {
  int status;
  pid_t pid = waitpid(-1, &status, WNOHANG);
  if (pid <= 0 || pid != watch->worker) return;
  serve_all(keeper);
  close(keeper->worker_socket);
  keeper->worker_socket = -1;
  watch->worker = 0;
  watch->status = status;
  hold_table_switch_back(&keeper->held); /* now, not only when the next worker starts */
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    watch->is_stopping = true;
    return;
  }
  if (!watch->is_stopping)
    log_warn("worker %d: died: %s %d; starting another", (int)pid,
             WIFSIGNALED(status) ? "signal" : "status",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  plan_restart(watch);
}

static void on_stop(const struct keeper *keeper, struct watch *watch) {
  if (watch->is_stopping) return;
  service_notify_send(&keeper->notify, "STOPPING=1");
  watch->is_stopping = true;
  watch->stop_by_ms = now_ms() + STOP_WAIT_MS;
  if (watch->worker > 0) kill(watch->worker, SIGTERM);
}

static void on_signals(struct keeper *keeper, struct watch *watch) {
  struct signalfd_siginfo signal;
  while (read(watch->signals, &signal, sizeof signal) == (ssize_t)sizeof signal) {
    if (signal.ssi_signo == SIGCHLD)
      on_child(keeper, watch);
    else
      on_stop(keeper, watch);
  }
}

static int time_left_ms(const struct keeper *keeper, const struct watch *watch) {
  uint64_t now = now_ms(), until = now + BACKOFF_MS_MAX;
  if (watch->worker == 0) until = watch->start_at_ms;
  if (watch->is_stopping) until = watch->stop_by_ms;
  uint64_t look_ms = keeper->porter.due_ms;
  if (look_ms != 0 && look_ms < until) until = look_ms;
  if (watch->alive_at_ms != 0 && watch->alive_at_ms < until) until = watch->alive_at_ms;
  return until > now ? (int)(until - now) : 0;
}

static void wait_once(struct keeper *keeper, struct watch *watch) {
  struct pollfd ready[3] = {{.fd = watch->signals, .events = POLLIN},
                            {.fd = keeper->worker_socket, .events = POLLIN},
                            {.fd = porter_fd(&keeper->porter), .events = POLLIN}};
  if (poll(ready, 3, time_left_ms(keeper, watch)) < 0) return;
  if ((ready[2].revents & POLLIN) || keeper->porter.due_ms != 0)
    porter_look(&keeper->porter, now_ms());
  if (ready[1].revents & POLLIN)
    serve_all(keeper);
  else if (ready[1].revents & (POLLHUP | POLLERR)) /* the worker is dying; SIGCHLD will follow */
    poll(ready, 1, (int)BACKOFF_MS_MIN);
  on_signals(keeper, watch);
}

/* The first message is "ready": the socket listens, and a worker has started. */
static void tell_manager(const struct keeper *keeper, struct watch *watch) {
  uint64_t period_ms = keeper->notify.period_ms, now = now_ms();
  if (!watch->is_told && watch->worker > 0) {
    service_notify_send(&keeper->notify, "READY=1");
    watch->is_told = true;
  }
  if (period_ms == 0 || now < watch->alive_at_ms) return;
  service_notify_send(&keeper->notify, "WATCHDOG=1");
  watch->alive_at_ms = now + period_ms;
}

int keeper_run(struct keeper *keeper, keeper_worker *worker) {
  struct watch watch = {.backoff_ms = BACKOFF_MS_MIN};
  watch.signals = open_signals(&watch.mask);
  if (watch.signals < 0) return 1;
  watch.start_at_ms = now_ms();
  while (!watch.is_stopping || watch.worker > 0) {
    if (watch.is_stopping && now_ms() >= watch.stop_by_ms) break;
    if (watch.worker == 0 && now_ms() >= watch.start_at_ms) {
      int failure = start_worker(keeper, worker, &watch);
      if (failure) log_error("worker start: %s", strerror(-failure));
      if (failure) plan_restart(&watch);
    }
    tell_manager(keeper, &watch);
    wait_once(keeper, &watch);
  }
  close(watch.signals);
  bool is_clean = watch.worker == 0 && WIFEXITED(watch.status) && WEXITSTATUS(watch.status) == 0;
  return is_clean ? 0 : 1;
}
