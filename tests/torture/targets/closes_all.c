/* SPDX-License-Identifier: Apache-2.0 */
/* A traditional daemon: prints the visible parts of its surroundings, closes every descriptor that
   it might have, forks twice, reuses the numbers for its own files, burns CPU, and checks that its
   files hold only its own data.

     closes_all FOLDER MS [range|alone]

   range: by close_range(2). alone: both parents end at once, as most daemons' do; the daemon's exit
   status is then in FOLDER/ended. */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FILES = 20, CLOSED = 1024, MARK = 0x5a };

static volatile uint64_t sink;

static unsigned count_in(const char *folder) {
  unsigned count = 0;
  DIR *open = opendir(folder);
  while (open != NULL && readdir(open) != NULL) count++;
  if (open != NULL) closedir(open);
  return count - 2; /* . and .. */
}

static void say_what_is_visible(void) {
  printf("descriptors %u, threads %u, mask %o, nice %d\n", count_in("/proc/self/fd") - 1,
         count_in("/proc/self/task"), umask(022), getpriority(PRIO_PROCESS, 0));
  fflush(stdout);
}

static void close_all(int is_range) {
  if (is_range && syscall(SYS_close_range, 0U, ~0U, 0U) == 0) return;
  for (int fd = 0; fd <= CLOSED; fd++) close(fd);
}

static void burn(double ms) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  double until = (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6 + ms;
  do {
    for (int i = 0; i < 100000; i++) sink += (uint64_t)i;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6 < until);
}

/* The numbers 0 to FILES - 1, each a file with one byte. */
static int reuse_numbers(const char *folder, double ms) {
  char path[512];
  for (int i = 0; i < FILES; i++) {
    snprintf(path, sizeof path, "%s/file-%d", folder, i);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    uint8_t mark = MARK;
    if (fd != i || write(fd, &mark, 1) != 1) return 3;
  }
  burn(ms);
  for (int i = 0; i < FILES; i++) {
    uint8_t bytes[16];
    if (pread(i, bytes, sizeof bytes, 0) != 1 || bytes[0] != MARK) return 4;
  }
  return 0;
}

static void be_alone(const char *folder, double ms) {
  char path[512], byte;
  if (fork() != 0) _exit(0);
  setsid();
  if (fork() != 0) _exit(0);
  close_all(0);
  byte = (char)('0' + reuse_numbers(folder, ms));
  snprintf(path, sizeof path, "%s/ended", folder);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  _exit(fd < 0 || write(fd, &byte, 1) != 1);
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  double ms = strtod(argv[2], NULL);
  if (argc > 3 && strcmp(argv[3], "alone") == 0) be_alone(argv[1], ms);
  say_what_is_visible();
  burn(ms / 2);
  pid_t child = fork();
  if (child == 0) {
    setsid();
    close_all(argc > 3);
    pid_t daemon = fork();
    if (daemon == 0) _exit(reuse_numbers(argv[1], ms));
    int status;
    waitpid(daemon, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 5);
  }
  int status = -1;
  waitpid(child, &status, 0);
  printf("the daemon ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  return status != 0;
}
