/* SPDX-License-Identifier: Apache-2.0 */
/* Repeats every call that the kernel may end with EINTR and never restarts, with a timeout, each
   after a burst of CPU so that a CPU timer is about to expire; other threads burn meanwhile. Prints
   the number of interrupted calls, which must be 0.

     eintr SECONDS */
#include <errno.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 3, BURN = 400000, KINDS = 10 };

static const struct timespec wait_time = {0, WAIT_MS * 1000000L};
static volatile uint64_t sink;
static _Atomic int is_over;
static uint64_t calls[KINDS], interrupted[KINDS];
static int pair[2], epoll_fd, listener;
static struct sockaddr_in address;
static sem_t semaphore;

static void burn(void) {
  for (uint64_t i = 0; i < BURN; i++) sink += i;
}

static void *burner(void *unused) {
  while (!atomic_load(&is_over)) burn();
  return unused;
}

static int wait_in_poll(void) {
  struct pollfd fd = {.fd = pair[0], .events = POLLIN};
  return poll(&fd, 1, WAIT_MS);
}
static int wait_in_epoll(void) {
  struct epoll_event event;
  return epoll_wait(epoll_fd, &event, 1, WAIT_MS);
}
static int wait_in_select(void) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(pair[0], &set);
  struct timeval timeout = {0, WAIT_MS * 1000};
  return select(pair[0] + 1, &set, NULL, NULL, &timeout);
}
static int wait_in_nanosleep(void) {
  return nanosleep(&wait_time, NULL);
}
static int wait_in_clock_nanosleep(void) {
  errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &wait_time, NULL);
  return errno == 0 ? 0 : -1;
}
static int wait_in_connect(void) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int result = connect(fd, (struct sockaddr *)&address, sizeof address);
  int saved = errno;
  int peer = accept(listener, NULL, NULL);
  if (peer >= 0) close(peer);
  close(fd);
  errno = saved;
  return result;
}
static int wait_in_accept(void) { /* the listener has a receive timeout, so this times out */
  return accept(listener, NULL, NULL);
}
static int wait_in_recv(void) {
  char byte;
  return (int)recv(pair[0], &byte, 1, 0);
}
static int wait_in_sem(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += wait_time.tv_nsec;
  if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
  return sem_timedwait(&semaphore, &until);
}
static int wait_in_futex(void) {
  uint32_t word = 0;
  return (int)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &wait_time, NULL, 0);
}

static const struct {
  const char *name;
  int (*wait)(void);
} kinds[KINDS] = {{"poll", wait_in_poll},
                  {"epoll_wait", wait_in_epoll},
                  {"select", wait_in_select},
                  {"nanosleep", wait_in_nanosleep},
                  {"clock_nanosleep", wait_in_clock_nanosleep},
                  {"connect", wait_in_connect},
                  {"accept", wait_in_accept},
                  {"recv", wait_in_recv},
                  {"sem_timedwait", wait_in_sem},
                  {"futex", wait_in_futex}};

static int open_all(void) {
  socklen_t len = sizeof address;
  struct timeval timeout = {0, WAIT_MS * 1000};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return -1;
  setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data = {.fd = pair[0]}};
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, pair[0], &event);
  listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0) return -1;
  if (listen(listener, 8) != 0) return -1;
  return getsockname(listener, (struct sockaddr *)&address, &len) + sem_init(&semaphore, 0, 0);
}

int main(int argc, char **argv) {
  time_t until = time(NULL) + (argc > 1 ? strtol(argv[1], NULL, 10) : 2);
  uint64_t all = 0, bad = 0;
  pthread_t thread;
  if (open_all() != 0 || pthread_create(&thread, NULL, burner, NULL) != 0) return 2;
  for (unsigned i = 0; time(NULL) < until; i++) {
    unsigned kind = i % KINDS;
    burn();
    calls[kind]++;
    if (kinds[kind].wait() < 0 && errno == EINTR) interrupted[kind]++;
  }
  atomic_store(&is_over, 1);
  pthread_join(thread, NULL);
  for (unsigned i = 0; i < KINDS; i++) {
    all += calls[i];
    bad += interrupted[i];
    if (interrupted[i] > 0)
      printf("%s: %llu of %llu interrupted\n", kinds[i].name, (unsigned long long)interrupted[i],
             (unsigned long long)calls[i]);
  }
  printf("%llu of %llu calls of %d kinds interrupted\n", (unsigned long long)bad,
         (unsigned long long)all, KINDS);
  return bad > 0;
}
