/* SPDX-License-Identifier: Apache-2.0 */
/* Faults as control flow, as collectors of garbage, databases and emulators use them: SIGSEGV for
   write barriers, SIGBUS past the end of a file, SIGSYS by syscall user dispatch, userfaultfd for
   pages on demand.  All while burning CPU, so that a profiler's signal meets every handler.

     faults segv|bus|sys|sys_all|uffd ROUNDS     77: the kernel does not have it */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
enum { PAGE = 4096, PAGES = 64, BURN = 20000, NO_SUCH_CALL = 9999 };

static uint8_t *area;
static volatile uint64_t sink;
static volatile unsigned long faults;
static volatile uint8_t dispatch; /* 0: calls are allowed, 1: they are SIGSYS */
static int file;

static void burn(void) {
  for (uint64_t i = 0; i < BURN; i++) sink += i;
}

static void on_segv(int signal, siginfo_t *event, void *context) {
  (void)signal;
  (void)context;
  uintptr_t page = (uintptr_t)event->si_addr & ~(uintptr_t)(PAGE - 1);
  if (page < (uintptr_t)area || page >= (uintptr_t)area + PAGES * PAGE) _exit(9);
  faults++;
  burn();
  mprotect((void *)page, PAGE, PROT_READ | PROT_WRITE);
}

static void on_bus(int signal, siginfo_t *event, void *context) {
  (void)signal;
  (void)context;
  uintptr_t at = (uintptr_t)event->si_addr - (uintptr_t)area;
  if (at >= PAGES * PAGE) _exit(9);
  faults++;
  burn();
  if (ftruncate(file, (off_t)(at / PAGE + 1) * PAGE) != 0) _exit(8);
}

static void on_sys(int signal, siginfo_t *event, void *context) {
  (void)signal;
  (void)context;
  dispatch = 0;
  if (event->si_syscall == NO_SUCH_CALL) faults++;
  burn();
}

static void handle_with(int signal, void (*handler)(int, siginfo_t *, void *)) {
  sigaction(signal, &(struct sigaction){.sa_sigaction = handler, .sa_flags = SA_SIGINFO}, NULL);
}

static int segv(unsigned long rounds) {
  area = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  handle_with(SIGSEGV, on_segv);
  for (unsigned long round = 0; round < rounds; round++) {
    mprotect(area, PAGES * PAGE, PROT_READ);
    for (size_t page = 0; page < PAGES; page++) ((volatile uint8_t *)area)[page * PAGE]++;
  }
  return faults == rounds * PAGES && area[0] == (uint8_t)rounds ? 0 : 1;
}

static int bus(unsigned long rounds) {
  file = memfd_create("faults", MFD_CLOEXEC);
  area = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  handle_with(SIGBUS, on_bus);
  for (unsigned long round = 0; round < rounds; round++) {
    if (ftruncate(file, 0) != 0) return 1;
    for (size_t page = 0; page < PAGES; page++) ((volatile uint8_t *)area)[page * PAGE]++;
  }
  return faults == rounds * PAGES ? 0 : 1;
}

/* The code from which libc returns from handlers: according to the kernel's manual it must be
   exempt, or no handler could return while the selector is set. */
static int find_libc(uintptr_t *ret_low, uintptr_t *ret_high) {
  char line[512];
  uintptr_t within = (uintptr_t)getpid;
  int is_found = 0;
  FILE *maps = fopen("/proc/self/maps", "re");
  while (maps != NULL && !is_found && fgets(line, sizeof line, maps) != NULL)
    is_found =
        sscanf(line, "%lx-%lx", ret_low, ret_high) == 2 && within >= *ret_low && within < *ret_high;
  if (maps != NULL) fclose(maps);
  return is_found ? 0 : -1;
}

static long call_of_our_own(long number) {
#ifdef __x86_64__
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number) : "rcx", "r11", "memory");
  return result;
#else
  return syscall(number);
#endif
}

/* A handler that made a system call of its own would be caught while the selector is set. */
static int sys(unsigned long rounds) {
  uintptr_t low = 0, high = 0;
  handle_with(SIGSYS, on_sys);
  if (find_libc(&low, &high) != 0) return 77;
  if (prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, low, high - low, &dispatch) != 0) return 77;
  for (unsigned long i = 0; i < rounds * PAGES; i++) {
    dispatch = 1;
    burn();
    call_of_our_own(NO_SUCH_CALL);
    dispatch = 0;
  }
  prctl(PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0);
  return faults == rounds * PAGES ? 0 : 1;
}

/* With nothing exempt, as in emulators whose foreign code makes no call of its own: libc's return
   from a handler would be caught as well. */
static int sys_all(unsigned long rounds) {
  if (prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, &dispatch) != 0) return 77;
  for (unsigned long i = 0; i < rounds * PAGES; i++) {
    dispatch = 1;
    burn();
    dispatch = 0;
  }
  prctl(PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0);
  return 0;
}

static void *serve_pages(void *argument) {
  int uffd = *(int *)argument;
  static uint8_t page[PAGE];
  struct uffd_msg message;
  while (read(uffd, &message, sizeof message) == sizeof message) {
    if (message.event != UFFD_EVENT_PAGEFAULT) continue;
    memset(page, 0x31, sizeof page);
    struct uffdio_copy copy = {.dst = message.arg.pagefault.address & ~(uint64_t)(PAGE - 1),
                               .src = (uintptr_t)page,
                               .len = PAGE};
    burn();
    faults++;
    if (ioctl(uffd, UFFDIO_COPY, &copy) != 0 && errno != EEXIST) _exit(9);
  }
  return NULL;
}

static int uffd(unsigned long rounds) {
  int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
  struct uffdio_api version = {.api = UFFD_API};
  if (fd < 0 || ioctl(fd, UFFDIO_API, &version) != 0) return 77;
  area = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct uffdio_register range = {.range = {(uintptr_t)area, PAGES * PAGE},
                                  .mode = UFFDIO_REGISTER_MODE_MISSING};
  if (ioctl(fd, UFFDIO_REGISTER, &range) != 0) return 77;
  pthread_t server;
  pthread_create(&server, NULL, serve_pages, &fd);
  uint64_t sum = 0;
  for (unsigned long round = 0; round < rounds; round++) {
    madvise(area, PAGES * PAGE, MADV_DONTNEED);
    for (size_t page = 0; page < PAGES; page++) sum += ((volatile uint8_t *)area)[page * PAGE];
  }
  return faults == rounds * PAGES && sum == rounds * PAGES * 0x31 ? 0 : 1;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    int (*run)(unsigned long);
  } modes[] = {{"segv", segv}, {"bus", bus}, {"sys", sys}, {"sys_all", sys_all}, {"uffd", uffd}};
  for (unsigned i = 0; argc == 3 && i < sizeof modes / sizeof *modes; i++) {
    if (strcmp(argv[1], modes[i].name) != 0) continue;
    int code = modes[i].run(strtoul(argv[2], NULL, 10));
    printf("%s: %lu faults, %s\n", argv[1], faults, code == 0 ? "each served" : "NOT as meant");
    return code;
  }
  return 2;
}
