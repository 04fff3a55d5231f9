/* SPDX-License-Identifier: Apache-2.0 */
/* A module's file is untrusted, may lie on a file system that does not respond, and may take much
   work to parse. So an isolated child opens, reads and parses it. The child has no descriptor but
   its output, no shared memory, limits on CPU time and memory, and no core file. It is the first
   that the OOM killer chooses. It has the daemon's rights until its files are mapped, and parses
   them without any (table_sandbox.c). If the child fails in any way, its module has no table.

   A table takes some milliseconds, and samples wait for it for at most a second. With the lowest
   priority the child made no progress beside two busy programs on two CPUs: a fifth of the stacks
   of their first second were short. So it lowers its priority only after TABLE_JOB_HASTE_MS, and
   only to a tenth of a program's share. On a board of 250 MIPS the C library's table takes three
   seconds if code must be scanned. With the lowest priority, a 70th beside one busy program, it was
   not finished within a minute. Its CPU time is limited; elapsed time counts only while it makes no
   progress.

   The result arrives in a memfd. It is sealed before it is read, so that a process that still holds
   it can neither change nor shorten it.

   A child that waits for an unreachable file system cannot even be killed. It is abandoned, and
   dies when it can. */
#include "table_job.h"
#include "table_key.h"
#include "table_sandbox.h"

#include "common/clock.h"
#include "elf/debug_find.h"
#include "elf/module_file.h"
#include "elf/regular_file.h"
#include "tables/table_make.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OLD_KERNEL_FDS = 4096 /* closed one by one if the kernel has no close_range */ };

/* --- The child --- */

/* Maps all of FD; an empty span on failure. */
static struct span map_file(int fd) {
  struct stat found;
  if (fstat(fd, &found) < 0 || found.st_size <= 0) return span_of(NULL, 0);
  void *map = mmap(NULL, (size_t)found.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  return map == MAP_FAILED ? span_of(NULL, 0) : span_of(map, (size_t)found.st_size);
}

/* A module's file. */
struct found_module {
  int fd;
  uint32_t owner; /* the uid responsible for it */
  struct module_stamp stamp;
  struct module_identity identity;
  char open_path[LIMIT_PATH_BYTES + 32];
};

/* The separate debug file of MODULE, if its writer is root or the module's own owner. The tree that
   is searched is the target's, and its user may have created it. */
static struct span map_debug(const struct table_wanted *wanted, const struct found_module *module) {
  struct debug_module asked = {span_of(module->identity.id, module->identity.id_bytes),
                               wanted->path, module->open_path};
  struct debug_found found;
  struct module_stamp stamp;
  char why[128];
  if (debug_find(&asked, &found, why, sizeof why) != 0) return span_of(NULL, 0);
  if (module_file_stamp(found.fd, &stamp) != 0 || found.is_id_content) return span_of(NULL, 0);
  uint32_t owner = table_key_owner(stamp.owner, wanted->pid);
  bool is_same = stamp.device == module->stamp.device && stamp.inode == module->stamp.inode;
  bool is_believed = owner == 0 || owner == module->owner;
  return is_same || !is_believed ? span_of(NULL, 0) : map_file(found.fd);
}

static uint64_t address_bytes_in_use(void) {
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "re");
  if (file == NULL) return 0;
  if (fscanf(file, "%lu", &pages) != 1) pages = 0;
  fclose(file);
  return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void limit(int resource, uint64_t most) {
  struct rlimit bound = {most, most};
  setrlimit((__rlimit_resource_t)resource, &bound);
}

void table_job_confine(void) {
  limit(RLIMIT_AS, address_bytes_in_use() + TABLE_JOB_ROOM_BYTES_MAX);
  table_sandbox_enter();
}

static enum table_state state_of(int error) {
  switch (error) {
  case 0:
    return TABLE_READY;
  case -ENODATA:
    return TABLE_NOTHING;
  case -ENOMEM:
    return TABLE_FAILED;
  default:
    return TABLE_REFUSED;
  }
}

static const char *words_of(int error) {
  switch (error) {
  case -ENODATA:
    return "it says nothing of its stacks";
  case -EBADMSG:
    return "it is no whole ELF file";
  case -EPROTO:
    return "it is of another machine";
  case -EOVERFLOW:
  case -ENOSPC:
    return "it says more than a table holds";
  default:
    return strerror(-error);
  }
}

static bool has_key(const struct found_module *module, const struct table_wanted *wanted) {
  uint8_t key[LIMIT_MODULE_ID_BYTES];
  struct span id = span_of(module->identity.id, module->identity.id_bytes);
  return span_is_equal(span_of(key, table_key(id, module->owner, key)),
                       span_of(wanted->id, wanted->id_bytes));
}

/* Checks that FD, which RET then owns, is the wanted file. Returns 0 or -errno. */
static int identify_take(int fd, const struct table_wanted *wanted, struct found_module *ret) {
  ret->fd = fd;
  int error = fd < 0 ? fd : module_file_stamp(fd, &ret->stamp);
  if (error) return error;
  ret->owner = table_key_owner(ret->stamp.owner, wanted->pid);
  error = module_file_identify(fd, &ret->stamp, &ret->identity);
  return error || has_key(ret, wanted) ? error : -ESTALE;
}

/* The caller is a child process that ends afterwards: nothing is closed. */
static int open_module(const struct table_wanted *wanted, struct found_module *ret) {
  struct stat status;
  memcpy(ret->open_path, wanted->open_path, sizeof ret->open_path);
  if (identify_take(regular_file_open(ret->open_path, &status), wanted, ret) == 0) return 0;
  const struct module_wanted file = {.path = wanted->path, .pid = wanted->pid};
  int fd = module_file_open(&file, ret->open_path);
  return identify_take(fd, wanted, ret);
}

enum table_state table_job_build(const struct table_wanted *wanted, struct buf *ret, char *why) {
  struct found_module module;
  struct table_report report = {.why = NULL};
  int error = open_module(wanted, &module);
  if (error) {
    snprintf(why, TABLE_FILE_WHY_BYTES, "%s", strerror(-error));
    return TABLE_UNREADABLE;
  }
  struct table_input input = {
      .file = map_file(module.fd), .debug = map_debug(wanted, &module), .arch = &unwind_arch};
  table_job_confine();
  error = table_make(&input, ret, &report);
  if (error == 0 && ret->len > TABLE_JOB_TABLE_BYTES_MAX) error = -EOVERFLOW;
  if (error) buf_clear(ret);
  const char *words = report.why != NULL ? report.why : error ? words_of(error) : "";
  snprintf(why, TABLE_FILE_WHY_BYTES, "%s", words);
  return state_of(error);
}

static void close_all_but(int kept) {
  unsigned from = (unsigned)kept + 1;
  if (syscall(SYS_close_range, from, ~0U, 0) < 0)
    for (unsigned fd = from; fd < OLD_KERNEL_FDS; fd++) close((int)fd);
  for (int fd = 0; fd < kept; fd++) close(fd);
}

static void give_way(int signal) {
  (void)signal;
  setpriority(PRIO_PROCESS, 0, TABLE_JOB_NICE);
}

static void step_back(void) {
  struct itimerval haste = {.it_value = {.tv_usec = TABLE_JOB_HASTE_MS * 1000}};
  struct sigaction action = {.sa_handler = give_way, .sa_flags = SA_RESTART};
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd >= 0) {
    ssize_t put = write(fd, "1000", 4);
    (void)put;
    close(fd);
  }
  sigaction(SIGPROF, &action, NULL);
  setitimer(ITIMER_PROF, &haste, NULL);
  limit(RLIMIT_CPU, TABLE_JOB_CPU_SECONDS_MAX);
  limit(RLIMIT_FSIZE, TABLE_JOB_TABLE_BYTES_MAX + sizeof(struct table_mark));
  limit(RLIMIT_CORE, 0);
}

static void forget_signals(void) {
  sigset_t none;
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  signal(SIGPIPE, SIG_IGN);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

_Noreturn static void be_child(int out, const struct table_wanted *wanted, table_build *build) {
  struct table_mark mark = {.id_bytes = wanted->id_bytes};
  struct buf table = {0};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  forget_signals();
  close_all_but(out);
  if (table_sandbox_unshare() != 0) _exit(1);
  step_back();
  memcpy(mark.id, wanted->id, sizeof mark.id);
  mark.state = build(wanted, &table, mark.why);
  _exit(table_file_write(out, buf_span(&table), &mark) == 0 ? 0 : 1);
}

/* --- The daemon --- */

/* Returns a free place for a child that cannot be killed, or NULL. */
static pid_t *find_place(struct table_job *job) {
  pid_t *place = NULL;
  for (unsigned i = 0; i < TABLE_JOB_STRAYS_MAX; i++) {
    pid_t *stray = &job->strays[i];
    if (*stray != 0 && waitpid(*stray, NULL, WNOHANG) != 0) *stray = 0;
    if (*stray == 0) place = stray;
  }
  return place;
}

int table_job_start(struct table_job *job, const struct table_wanted *wanted, table_build *build) {
  if (find_place(job) == NULL) return -EBUSY;
  int fd = memfd_create("fleetprof-table", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return -errno;
  pid_t child = fork();
  if (child == 0) be_child(fd, wanted, build);
  if (child < 0) {
    int error = -errno;
    close(fd);
    return error;
  }
  job->child = child;
  job->fd = fd;
  job->moved_ns = clock_monotonic_ns();
  job->cpu_ns = 0;
  return 0;
}

static void explain_end(int status, char why[TABLE_FILE_WHY_BYTES]) {
  if (WIFSIGNALED(status))
    snprintf(why, TABLE_FILE_WHY_BYTES, "whoever made its table died of signal %d",
             WTERMSIG(status));
  else
    snprintf(why, TABLE_FILE_WHY_BYTES, "there was no room for its table");
}

/* A child that waits for the CPU still progresses, if slowly; a child that waits for a file does
   not. */
static bool has_time(struct table_job *job) {
  uint64_t now_ns = clock_monotonic_ns(), cpu_ns = 0;
  struct timespec used;
  clockid_t clock;
  if (clock_getcpuclockid(job->child, &clock) == 0 && clock_gettime(clock, &used) == 0)
    cpu_ns = (uint64_t)used.tv_sec * NS_PER_SECOND + (uint64_t)used.tv_nsec;
  if (cpu_ns > job->cpu_ns) {
    job->cpu_ns = cpu_ns;
    job->moved_ns = now_ns;
  }
  return now_ns - job->moved_ns < TABLE_JOB_STILL_MS_MAX * NS_PER_MS;
}

/* It may be waiting for an unreachable file system. */
static void let_go(struct table_job *job) {
  pid_t *place = find_place(job);
  kill(job->child, SIGKILL);
  if (place != NULL) *place = job->child;
}

static bool seal(int fd) {
  int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
  return fcntl(fd, F_ADD_SEALS, seals) == 0;
}

bool table_job_step(struct table_job *job, struct span id, struct table_file *ret) {
  struct table_file outcome = {.state = TABLE_FAILED};
  int status = 0;
  if (job->child == 0) return false;
  pid_t ended = waitpid(job->child, &status, WNOHANG);
  if (ended == 0 && has_time(job)) return false;
  if (ended == 0) {
    let_go(job);
    snprintf(outcome.why, sizeof outcome.why, "making its table stood still for %d s",
             TABLE_JOB_STILL_MS_MAX / 1000);
  } else if (ended < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    explain_end(status, outcome.why);
  } else if (!seal(job->fd) || table_file_read(job->fd, id, &outcome) != 0) {
    snprintf(outcome.why, sizeof outcome.why, "what was made is no table");
  }
  close(job->fd);
  job->child = 0;
  *ret = outcome;
  return true;
}

void table_job_stop(struct table_job *job) {
  if (job->child == 0) return;
  let_go(job);
  close(job->fd);
  job->child = 0;
}
