/* SPDX-License-Identifier: Apache-2.0 */
/* A program that measures the true share of each of its functions, with workloads that are hard to
   sample.

     known_shares KIND SECONDS SEED FILE [PERIOD_US]

     mixed    two threads, bursts of 20 to 200 us
     phases   one thread, phases of 50 to 300 ms in one function each
     lockstep one thread, bursts of one sampling period (PERIOD_US) each, then a sleep
     fibers   one thread that switches among eight stacks of its own
     short    threads that live for 1 to 8 ms, six at a time
     tree     processes that live for 2 to 40 ms, and one child of each
     kernel   half of the time in system calls
     sleepy   bursts of 0.1 to 1 ms between sleeps
     rounds   one thread, all functions in turn, a round in two sampling periods
     turns    one thread, two functions in turn for 1 ms each
     nested   one thread, phases of 50 to 300 ms in two functions, bursts of 20 to 200 us

   SECONDS are of CPU time. At the end FILE has lines "f NANOSECONDS NAME", "kernel NANOSECONDS" and
   "total NANOSECONDS". Functions are measured by the threads' clocks, the total by getrusage. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define NS_PER_US 1000
#define NS_PER_MS 1000000

enum { FUNCTIONS = 40, FIBERS = 8, FIBER_STACK_BYTES = 64 << 10, READ_BYTES = 16 << 10 };
enum { STEPS = 1000, SHORT_THREADS = 6 };

static volatile uint64_t sink;
static uint64_t *spent_ns; /* by function; of all processes */
static uint64_t end_ns, period_ns;
static double shares[FUNCTIONS]; /* as wanted; summed up */

struct worker {
  uint64_t random;
  uint64_t left_ns; /* of the CPU time that it may spend */
};

static uint64_t draw(struct worker *worker) {
  worker->random = worker->random * 6364136223846793005U + 1442695040888963407U;
  return worker->random >> 33;
}

static uint64_t between(struct worker *worker, uint64_t low, uint64_t high) {
  return low + draw(worker) % (high - low + 1);
}

static uint64_t thread_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t time_ns(struct timeval time) {
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

static void read_usage(uint64_t *ret_total, uint64_t *ret_kernel) {
  struct rusage own, children;
  getrusage(RUSAGE_SELF, &own);
  getrusage(RUSAGE_CHILDREN, &children);
  *ret_kernel = time_ns(own.ru_stime) + time_ns(children.ru_stime);
  *ret_total = *ret_kernel + time_ns(own.ru_utime) + time_ns(children.ru_utime);
}

static uint64_t used_ns(void) {
  uint64_t total, kernel;
  read_usage(&total, &kernel);
  return total;
}

/* Spins for about NS of CPU time. It rarely reads the clock, because that is a system call. */
#define SPIN(ns)                                                                  \
  do {                                                                            \
    uint64_t x = sink | 1, steps = (ns) / 2;                                      \
    for (uint64_t i = 0; i < steps; i++) x ^= x << 13, x ^= x >> 7, x ^= x << 17; \
    sink = x;                                                                     \
  } while (0)

/* noipa: prevents folding of equal bodies. */
#define LEAF(n)                                              \
  static __attribute__((noipa)) void part_##n(uint64_t ns) { \
    SPIN(ns);                                                \
  }
#define TEN(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define ALL(X) TEN(X, 1) TEN(X, 2) TEN(X, 3) TEN(X, 4)
ALL(LEAF)

static void (*const parts[FUNCTIONS])(uint64_t ns) = {
#define POINTER(n) part_##n,
    ALL(POINTER)};
static const char *const names[FUNCTIONS] = {
#define NAME(n) "part_" #n,
    ALL(NAME)};

static int choose(struct worker *worker) {
  double at = (double)draw(worker) / 2147483648.0;
  int function = 0;
  while (function < FUNCTIONS - 1 && at >= shares[function]) function++;
  return function;
}

/* Spends NS in one function and adds the measured time. */
static void burst(struct worker *worker, uint64_t ns) {
  int function = choose(worker);
  uint64_t start = thread_ns();
  parts[function](ns);
  uint64_t took = thread_ns() - start;
  __atomic_fetch_add(&spent_ns[function], took, __ATOMIC_RELAXED);
}

static void rest(uint64_t ns) {
  struct timespec time = {0, (long)ns};
  nanosleep(&time, NULL);
}

static void *mix(void *argument) {
  struct worker *worker = argument;
  while (used_ns() < end_ns)
    for (int i = 0; i < 20; i++) burst(worker, between(worker, 20 * NS_PER_US, 200 * NS_PER_US));
  return NULL;
}

static void run_mixed(struct worker *worker) {
  struct worker other = {.random = draw(worker)};
  pthread_t thread;
  pthread_create(&thread, NULL, mix, &other);
  mix(worker);
  pthread_join(thread, NULL);
}

static void run_phases(struct worker *worker) {
  while (used_ns() < end_ns) {
    int function = choose(worker);
    uint64_t length = between(worker, 50 * NS_PER_MS, 300 * NS_PER_MS), start = thread_ns(), now;
    do {
      parts[function](100 * NS_PER_US);
      now = thread_ns();
    } while (now - start < length);
    spent_ns[function] += now - start;
  }
}

static void run_lockstep(struct worker *worker) {
  while (used_ns() < end_ns) {
    burst(worker, period_ns);
    rest(period_ns / 4);
  }
}

static void run_sleepy(struct worker *worker) {
  while (used_ns() < end_ns) {
    burst(worker, between(worker, 100 * NS_PER_US, NS_PER_MS));
    rest(between(worker, 50 * NS_PER_US, NS_PER_MS));
  }
}

static void spin(int function, uint64_t ns) {
  uint64_t start = thread_ns();
  parts[function](ns);
  spent_ns[function] += thread_ns() - start;
}

static void run_rounds(struct worker *worker) {
  (void)worker;
  while (used_ns() < end_ns)
    for (int i = 0; i < FUNCTIONS; i++) {
      double share = shares[i] - (i > 0 ? shares[i - 1] : 0);
      spin(i, (uint64_t)(share * 2 * (double)period_ns));
    }
}

static void run_turns(struct worker *worker) {
  int first = choose(worker), other = choose(worker);
  while (used_ns() < end_ns) {
    spin(first, NS_PER_MS);
    spin(other, NS_PER_MS);
  }
}

static void run_nested(struct worker *worker) {
  while (used_ns() < end_ns) {
    int first = choose(worker), other = choose(worker);
    uint64_t end = thread_ns() + between(worker, 50 * NS_PER_MS, 300 * NS_PER_MS);
    while (thread_ns() < end)
      spin(draw(worker) % 2 ? first : other, between(worker, 20 * NS_PER_US, 200 * NS_PER_US));
  }
}

static ucontext_t fibers[FIBERS + 1];
static struct worker fiber_workers[FIBERS];

static void fiber(int at) {
  for (;;) {
    for (int i = 0; i < 5; i++)
      burst(&fiber_workers[at], between(&fiber_workers[at], 20 * NS_PER_US, 200 * NS_PER_US));
    int next = used_ns() >= end_ns ? FIBERS : (at + 1) % FIBERS;
    swapcontext(&fibers[at], &fibers[next]);
  }
}

static void run_fibers(struct worker *worker) {
  for (int i = 0; i < FIBERS; i++) {
    fiber_workers[i].random = draw(worker);
    getcontext(&fibers[i]);
    fibers[i].uc_stack.ss_sp = malloc(FIBER_STACK_BYTES);
    fibers[i].uc_stack.ss_size = FIBER_STACK_BYTES;
    makecontext(&fibers[i], (void (*)(void))fiber, 1, i);
  }
  swapcontext(&fibers[FIBERS], &fibers[0]);
}

static void spend(struct worker *worker) {
  uint64_t end = thread_ns() + worker->left_ns;
  do {
    burst(worker, between(worker, 20 * NS_PER_US, 200 * NS_PER_US));
  } while (thread_ns() < end);
}

static void *live_shortly(void *argument) {
  spend(argument);
  return NULL;
}

static void run_short(struct worker *worker) {
  while (used_ns() < end_ns) {
    pthread_t threads[SHORT_THREADS];
    struct worker workers[SHORT_THREADS];
    for (int i = 0; i < SHORT_THREADS; i++) {
      workers[i] = (struct worker){draw(worker), between(worker, NS_PER_MS, 8 * NS_PER_MS)};
      pthread_create(&threads[i], NULL, live_shortly, &workers[i]);
    }
    for (int i = 0; i < SHORT_THREADS; i++) pthread_join(threads[i], NULL);
  }
}

static void live_as_a_child(struct worker *worker, int depth) {
  struct worker child = {draw(worker), between(worker, 2 * NS_PER_MS, 40 * NS_PER_MS)};
  pid_t pid = fork();
  if (pid == 0) {
    if (depth > 1) live_as_a_child(&child, depth - 1);
    spend(&child);
    _exit(0);
  }
  waitpid(pid, NULL, 0);
}

static void run_tree(struct worker *worker) {
  while (used_ns() < end_ns) live_as_a_child(worker, 2);
}

/* Time in the kernel is no function's. */
static void run_kernel(struct worker *worker) {
  static char room[READ_BYTES];
  int zeros = open("/dev/zero", O_RDONLY);
  while (used_ns() < end_ns)
    for (int i = 0; i < 20; i++) {
      burst(worker, between(worker, 20 * NS_PER_US, 100 * NS_PER_US));
      uint64_t end = thread_ns() + between(worker, 20 * NS_PER_US, 100 * NS_PER_US);
      while (thread_ns() < end)
        if (read(zeros, room, sizeof room) < 0) break;
    }
  close(zeros);
}

static const struct {
  const char *name;
  void (*run)(struct worker *worker);
} kinds[] = {{"mixed", run_mixed},   {"phases", run_phases}, {"lockstep", run_lockstep},
             {"fibers", run_fibers}, {"short", run_short},   {"tree", run_tree},
             {"kernel", run_kernel}, {"sleepy", run_sleepy}, {"rounds", run_rounds},
             {"turns", run_turns},   {"nested", run_nested}};

/* Functions of 0.2 to some 10 % of the time. */
static void draw_shares(struct worker *worker) {
  double sum = 0;
  for (int i = 0; i < FUNCTIONS; i++) {
    double size = (double)between(worker, 1, STEPS) / STEPS;
    sum += shares[i] = size * size * size + 0.01;
  }
  for (int i = 0; i < FUNCTIONS; i++) shares[i] = shares[i] / sum + (i > 0 ? shares[i - 1] : 0);
}

static int write_truth(const char *path) {
  uint64_t total, kernel;
  FILE *file = fopen(path, "w");
  if (file == NULL) return 1;
  for (int i = 0; i < FUNCTIONS; i++)
    fprintf(file, "f %llu %s\n", (unsigned long long)spent_ns[i], names[i]);
  read_usage(&total, &kernel);
  fprintf(file, "kernel %llu\ntotal %llu\n", (unsigned long long)kernel, (unsigned long long)total);
  return fclose(file) != 0;
}

int main(int argc, char **argv) {
  if (argc < 5) return 2;
  struct worker worker = {.random = strtoull(argv[3], NULL, 10) * 2654435761U + 1};
  for (int i = 0; i < 8; i++) draw(&worker);
  end_ns = (uint64_t)(atof(argv[2]) * 1e9);
  period_ns = (argc > 5 ? strtoull(argv[5], NULL, 10) : 1000) * NS_PER_US;
  spent_ns = mmap(NULL, FUNCTIONS * sizeof *spent_ns, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (spent_ns == MAP_FAILED) return 1;
  draw_shares(&worker);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(kinds[i].name, argv[1]) == 0) {
      kinds[i].run(&worker);
      return write_truth(argv[4]);
    }
  return 2;
}
