/* SPDX-License-Identifier: Apache-2.0 */
/* The constructor: decides whether this program is sampled, gets a ring from the daemon, and
   starts. It runs before main, while the program can still open and map files that it may lose
   access to later (chroot, dropped privileges, a sandbox). It is silent: if anything is missing,
   the program runs as without the agent. errno is preserved, no descriptor stays open, and the
   exchange with the daemon ends within TOTAL_MS. A program that is to be sampled from its first
   instruction waits as long again for its unwind tables.

   valgrind's thread checkers do not support C11 atomics. They would report the agent's accesses as
   races, in the program's report and exit status. Under them (valgrind preloads a library named
   after the tool) the agent only reports this; perf may sample the program.

   Privileged programs (AT_SECURE) are never touched, nor is their environment read. A kill-switch
   file disables every start without changing a service's settings.

     FLEETPROF=0          off
     FLEETPROF_SOCKET     the daemon's socket, instead of the usual places
     FLEETPROF_SERVICE    the service's name (else the program's file name)
     FLEETPROF_LABEL      labels, k=v, separated by ';', or each on a line
     FLEETPROF_HZ         samples for each second of CPU time
     FLEETPROF_COLLECT    stacks, pc-lr, histogram or recorder; with FLEETPROF_BIN_BYTES and
                          FLEETPROF_COUNTER_BYTES of a histogram, FLEETPROF_LAST of a recorder
     FLEETPROF_UNWIND     how callers are found (unwind_choice.h)
     FLEETPROF_SAMPLER    auto: perf, opened by the daemon, if possible, else timer; timer; or
                          only by name: itimer or itimer-virtual (ring_clock.h)
     FLEETPROF_DORMANT    1: no timer until requested
     FLEETPROF_FILTERS    seccomp filters that the program may be started within; they must allow
                          the calls of a start (birth_sandbox.c); default 0

   The destructor only records the CPU time that the process has spent. Threads run until the
   process ends, which the daemon detects. */
#include "birth_sandbox.h"
#include "call_gate.h"
#include "cost_setup.h"
#include "exit_time.h"
#include "go_program.h"
#include "hooks.h"
#include "identity.h"
#include "intake/intake_client.h"
#include "intake/kill_switch.h"
#include "intake/socket_path.h"
#include "intake/unwind_choice.h"
#include "kernel_words.h"
#include "raw_syscall.h"
#include "ring/ring_clock.h"
#include "ring_map.h"
#include "sampler.h"
#include "sampling.h"
#include "sandbox_calls.h"
#include "signal_calls.h"
#include "table_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
  TOTAL_MS = 200,     /* limit of a start when the daemon does not answer */
  CONNECT_MS = 20,    /* ... for room in its queue, which is full if the daemon is stopped */
  PAUSE_NS = 1000000, /* between two checks of the daemon's tables, */
  PAUSES_MAX = 180,   /* 200 ms with the timer's slack */
  HZ_MAX = 10000,
  NUMBER_MAX = 100000000,     /* upper bound of every setting */
  STACK_BYTES_MAX = 64 << 20, /* of the main thread, if the limit is higher or absent */
};

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Parses a decimal number; 0, the daemon's default, for anything else. */
static uint32_t parse_number(const char *text) {
  uint32_t number = 0;
  for (; text != NULL && *text != '\0'; text++) {
    if (*text < '0' || *text > '9' || number > NUMBER_MAX) return 0;
    number = number * 10 + (uint32_t)(*text - '0');
  }
  return number;
}

static bool may_look(void) {
  if (getauxval(AT_SECURE) != 0) return false;
  if (birth_sandbox_is_strange(parse_number(getenv("FLEETPROF_FILTERS")))) return false;
  return raw_getpid() == raw_gettid(); /* else loaded late, by a thread: unsupported */
}

static bool is_wanted(void) {
  const char *setting = getenv("FLEETPROF");
  if (setting != NULL && strcmp(setting, "0") == 0) return false;
  return access(KILL_SWITCH_PATH, F_OK) != 0;
}

/* "99" or "99.5" -> thousandths; 0, the daemon's default, for anything else. */
static uint32_t parse_mhz(const char *text) {
  uint32_t mhz = 0, scale = 1000;
  bool is_fraction = false;
  if (text == NULL || *text < '0' || *text > '9') return 0;
  for (; *text != '\0'; text++) {
    if (*text == '.' && !is_fraction) {
      is_fraction = true;
      continue;
    }
    if (*text < '0' || *text > '9' || mhz > HZ_MAX * 1000) return 0;
    if (is_fraction) scale /= 10;
    uint32_t digit = (uint32_t)(*text - '0');
    mhz = is_fraction ? mhz + digit * scale : (mhz * 10 + digit * 1000);
  }
  return mhz <= HZ_MAX * 1000 ? mhz : 0;
}

static uint32_t parse_collect(const char *text) {
  static const char *const names[] = {[RING_STACKS] = "stacks",
                                      [RING_PC_LR] = "pc-lr",
                                      [RING_HISTOGRAM] = "histogram",
                                      [RING_RECORDER] = "recorder"};
  for (uint32_t i = 0; text != NULL && i < sizeof names / sizeof *names; i++)
    if (strcmp(text, names[i]) == 0) return i;
  return RING_STACKS;
}

static uint32_t parse_unwind(const char *text) {
  int choice = text != NULL ? unwind_choice_parse(text) : -1;
  return choice >= 0 ? (uint32_t)choice : UNWIND_CHOICE_AUTO;
}

static enum ring_clock parse_clock(const char *sampler) {
  int clock = sampler != NULL ? ring_clock_parse(sampler) : -1;
  return clock >= 0 ? (enum ring_clock)clock : RING_CLOCK_THREAD;
}

static bool is_set(const char *text) {
  return text != NULL && strcmp(text, "1") == 0;
}

static void copy_setting(char *field, size_t field_bytes, const char *text) {
  if (text == NULL) return;
  for (size_t i = 0; i + 1 < field_bytes && text[i] != '\0'; i++) field[i] = text[i];
}

/* Copies the labels with a line end after each but the last, as the format requires. If TEXT
   contains a newline, newlines separate the labels, and a ';' is part of a label. */
static void copy_labels(char *field, size_t field_bytes, const char *text) {
  if (text == NULL) return;
  bool is_lines = strchr(text, '\n') != NULL;
  copy_setting(field, field_bytes, text);
  size_t len = strlen(field);
  for (size_t i = 0; i < len && !is_lines; i++)
    if (field[i] == ';') field[i] = '\n';
  if (len > 0 && field[len - 1] == '\n') field[len - 1] = '\0';
}

/* True if SAMPLER is named, instead of the best available. */
static bool is_named(const char *sampler) {
  return *sampler != '\0' && strcmp(sampler, "auto") != 0;
}

/* Under helgrind or drd. */
static bool is_thread_checked(void) {
  const char *preloaded = getenv("LD_PRELOAD");
  return preloaded != NULL && (strstr(preloaded, "/vgpreload_helgrind-") != NULL ||
                               strstr(preloaded, "/vgpreload_drd-") != NULL);
}

/* Turns the request into one for perf, because the agent must do nothing in this program, whatever
   was requested. */
static const char *stay_out(struct intake_request *request) {
  memset(request->sampler, 0, sizeof request->sampler);
  copy_setting(request->sampler, sizeof request->sampler, "perf");
  request->is_dormant = true;
  return "under valgrind's thread checker, which takes atomics for races: only perf samples it";
}

/* Go's runtime uses SIGURG itself, so no sample would arrive. A timer would only disturb a runtime
   that depends on its signals. So a Go program is sampled by perf or not at all. */
static void explain(struct intake_request *request) {
  const char *obstacle = sampling_obstacle((enum ring_clock)request->clock);
  const char *why = obstacle;
  if (go_program_is_this()) {
    if (!request->is_dormant && !is_named(request->sampler))
      copy_setting(request->sampler, sizeof request->sampler, "perf");
    request->is_dormant = true;
    why = "a Go program, whose runtime needs the signals: dormant; only perf samples it";
  } else if (obstacle == NULL && request->clock != RING_CLOCK_THREAD) {
    why = "itimer: " RING_CLOCK_DANGER;
  }
  if (is_thread_checked()) why = stay_out(request);
  copy_setting(request->why, sizeof request->why, why);
}

static void fill_request(struct intake_request *request, enum ring_clock clock) {
  intake_client_request(request, INTAKE_TARGET);
  request->pid = (int32_t)raw_getpid();
  request->asked_mhz = parse_mhz(getenv("FLEETPROF_HZ"));
  request->collect = parse_collect(getenv("FLEETPROF_COLLECT"));
  request->unwind = parse_unwind(getenv("FLEETPROF_UNWIND"));
  request->bin_bytes = parse_number(getenv("FLEETPROF_BIN_BYTES"));
  request->counter_bytes = parse_number(getenv("FLEETPROF_COUNTER_BYTES"));
  request->last = parse_number(getenv("FLEETPROF_LAST"));
  request->is_dormant = is_set(getenv("FLEETPROF_DORMANT"));
  request->clock = clock;
  copy_setting(request->sampler, sizeof request->sampler, getenv("FLEETPROF_SAMPLER"));
  explain(request);
  copy_setting(request->service, sizeof request->service, getenv("FLEETPROF_SERVICE"));
  copy_labels(request->labels, sizeof request->labels, getenv("FLEETPROF_LABEL"));
  identity_fill(request);
}

static uint32_t left_ms(uint64_t deadline_ms) {
  uint64_t now = now_ms();
  return now < deadline_ms ? (uint32_t)(deadline_ms - now) : 0;
}

static int connect_to_daemon(int *ret_socket) {
  const char *named = getenv("FLEETPROF_SOCKET");
  if (named != NULL && *named != '\0') return intake_client_connect(named, CONNECT_MS, ret_socket);
  struct socket_places places = {
      .runtime_dir = getenv("XDG_RUNTIME_DIR"), .temp_dir = getenv("TMPDIR"), .uid = geteuid()};
  char path[SOCKET_PATH_BYTES];
  int error = -ENOENT;
  for (unsigned place = 0; place < SOCKET_PLACE_COUNT && error != 0; place++) {
    error = socket_path_find(&places, (enum socket_place)place, path);
    if (error == 0) error = intake_client_connect(path, CONNECT_MS, ret_socket);
  }
  return error;
}

/* The descriptors of the daemon's answer; -1: absent. */
struct gift {
  int ring;
  int map, tables; /* to walk stacks with */
};

static void gift_close(struct gift *gift) {
  if (gift->ring >= 0) close(gift->ring);
  if (gift->map >= 0) close(gift->map);
  if (gift->tables >= 0) close(gift->tables);
  *gift = (struct gift){-1, -1, -1};
}

/* Requests a ring of CLOCK over SOCKET. Returns 0 with its memfd, or -errno. */
static int ask_for_ring(int socket, enum ring_clock clock, uint64_t deadline_ms, struct gift *ret) {
  struct intake_request request;
  struct intake_answer answer;
  fill_request(&request, clock);
  int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC); /* -1: no /proc here */
  struct intake_call call = {.request = &request,
                             .fds = &maps,
                             .fd_count = maps >= 0,
                             .timeout_ms = left_ms(deadline_ms),
                             .takes_more = true};
  int error = intake_client_call(socket, &call, &answer);
  if (maps >= 0) close(maps);
  if (error != 0) return error;
  *ret = (struct gift){answer.fd, answer.more[0], answer.more[1]};
  if (answer.reply.kind == INTAKE_RING && answer.fd >= 0) return 0;
  gift_close(ret);
  return -EACCES;
}

/* The daemon makes tables once for each file, mostly within 30 ms. Waits are counted, because the
   program's clock may come from a library and stand still. */
static void await_tables(const struct unwind_map *map) {
  struct kernel_time pause = {0, PAUSE_NS};
  long error = 0;
  /* Acquire: orders this before reads of the lists that the daemon wrote earlier. */
  for (unsigned i = 0; i < PAUSES_MAX && error == 0; i++) {
    if (atomic_load_explicit(&map->is_awaited, memory_order_acquire) == 0) return;
    error = raw_syscall(SYS_nanosleep, (uintptr_t)&pause, 0, 0, 0);
  }
}

/* Maps the descriptors in GIFT, and closes them. Returns 0 with a ring, even if the tables cannot
   be mapped. */
static int map_all(struct gift *gift, struct ring_writer *ret_ring, struct ring_terms *ret_terms) {
  struct unwind_shared shared = {.map = NULL};
  int error = ring_map(gift->ring, ret_ring, ret_terms);
  if (error == 0 && gift->map >= 0 && gift->tables >= 0 &&
      table_map(gift->map, gift->tables, &shared) == 0) {
    sampler_use_tables(&shared);
    await_tables(shared.map);
  }
  gift_close(gift);
  return error;
}

/* The kernel puts 16 random bytes above the main thread's first frame. They mark the top of the
   part that a walk needs, which is certainly mapped. */
static struct unwind_stack main_stack(void) {
  struct rlimit limit = {STACK_BYTES_MAX, STACK_BYTES_MAX};
  getrlimit(RLIMIT_STACK, &limit);
  uintptr_t bytes = limit.rlim_cur < STACK_BYTES_MAX ? (uintptr_t)limit.rlim_cur : STACK_BYTES_MAX;
  uintptr_t top = getauxval(AT_RANDOM);
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  if (top <= here || top - here > bytes) return (struct unwind_stack){.low = 0};
  return (struct unwind_stack){.low = top - bytes, .high = top, .top = top};
}

static uint64_t random_seed(void) {
  uint64_t seed = raw_getpid();
  const void *random = (const void *)getauxval(AT_RANDOM);
  if (random != NULL) memcpy(&seed, random, sizeof seed);
  return seed ^ now_ms() << 20;
}

static void start(void) {
  if (!may_look()) return;
  enum ring_clock clock = parse_clock(getenv("FLEETPROF_SAMPLER"));
  sampling_end_inherited(clock);
  if (!is_wanted()) return;
  uint64_t deadline_ms = now_ms() + TOTAL_MS;
  int socket = -1;
  struct gift gift = {-1, -1, -1};
  if (connect_to_daemon(&socket) != 0) return;
  int error = ask_for_ring(socket, clock, deadline_ms, &gift);
  close(socket);
  if (error == 0 && is_thread_checked()) gift_close(&gift); /* the daemon has its report */
  if (error != 0 || is_thread_checked()) return;
  struct ring_writer writer;
  struct ring_terms terms;
  if (map_all(&gift, &writer, &terms) != 0 || hooks_install() != 0) return;
  if (sampling_start(&writer, &terms, random_seed()) != 0) return;
  cost_setup(&writer);
  struct unwind_stack stack = main_stack();
  sampling_begin(&stack);
  exit_time_setup(&writer);
}

__attribute__((constructor)) static void preload_start(void) {
  int saved = errno;
  sandbox_calls_install();
  signal_calls_install();
  if (call_gate_enter()) { /* an earlier constructor may have begun a sandbox */
    start();
    call_gate_leave();
  }
  errno = saved;
}

__attribute__((destructor)) static void preload_end(void) {
  exit_time_say();
}
