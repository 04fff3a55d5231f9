/* SPDX-License-Identifier: Apache-2.0 */
/* Supplies features that qemu's user mode emulation lacks. It is preloaded into daemon and targets
   of these tests, or linked into a static target.

   A program that opens its own /proc/self/maps gets a temporary file with the guest's addresses.
   The daemon rightly does not accept that as a file of procfs. A program that opens /proc/PID/maps
   of another process sees the host's addresses, where nothing is executable. So the target's
   mappings, as the emulator reports them, are written to OWN_MAPS/PID and the open fails, as on a
   board without /proc. The daemon reads that file instead of /proc/PID/maps.

   On MIPS a timer's expiry has si_code SI_TIMER, which is -3 there. The emulator sets -2, as on all
   other CPUs (seen with qemu 7.2, for a handler of a timer_create timer). It is corrected on its
   way to the handler. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATH_BYTES = 512, SAID_OF_TIMERS = -2 };

typedef int open_fn(const char *path, int flags, ...);

/* By the system call: a static program has no next definition of open. */
static int real_open(const char *path, int flags, mode_t mode) {
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

static void place_of(int pid, char path[PATH_BYTES]) {
  const char *folder = getenv("OWN_MAPS");
  snprintf(path, PATH_BYTES, "%s/%d", folder != NULL ? folder : "/nonexistent", pid);
}

static void leave_own(void) {
  char path[PATH_BYTES], text[4096];
  place_of((int)getpid(), path);
  int from = real_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
  int to = real_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  for (ssize_t got; from >= 0 && to >= 0 && (got = read(from, text, sizeof text)) > 0;)
    if (write(to, text, (size_t)got) != got) break;
  if (from >= 0) close(from);
  if (to >= 0) close(to);
}

static int open_as(const char *path, int flags, mode_t mode) {
  int pid = 0, end = 0;
  char place[PATH_BYTES];
  if (strcmp(path, "/proc/self/maps") == 0) {
    leave_own();
    errno = ENOENT;
    return -1;
  }
  if (sscanf(path, "/proc/%d/maps%n", &pid, &end) == 1 && end > 0 && path[end] == '\0') {
    place_of(pid, place);
    int fd = real_open(place, flags, 0);
    if (fd >= 0) return fd;
  }
  return real_open(path, flags, mode);
}

#define OPENS(name)                            \
  int name(const char *path, int flags, ...) { \
    va_list more;                              \
    va_start(more, flags);                     \
    mode_t mode = va_arg(more, mode_t);        \
    va_end(more);                              \
    return open_as(path, flags, mode);         \
  }

open_fn open, open64;
OPENS(open)
OPENS(open64)

#ifdef __mips__
typedef int action_fn(int signal, const struct sigaction *action, struct sigaction *before);
typedef void handler_fn(int signal, siginfo_t *event, void *context);

static handler_fn *handler; /* of the agent's signal, the only one installed here */

static void mend(int signal, siginfo_t *event, void *context) {
  if (event->si_code == SAID_OF_TIMERS) event->si_code = SI_TIMER;
  handler(signal, event, context);
}

int sigaction(int signal, const struct sigaction *action, struct sigaction *before) {
  union {
    void *object;
    action_fn *sigaction;
  } real = {.object = dlsym(RTLD_NEXT, "sigaction")};
  struct sigaction mended;
  if (signal == SIGURG && action != NULL && (action->sa_flags & SA_SIGINFO) != 0) {
    mended = *action;
    handler = action->sa_sigaction;
    mended.sa_sigaction = mend;
    action = &mended;
  }
  return real.sigaction(signal, action, before);
}
#endif
