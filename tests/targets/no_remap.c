/* SPDX-License-Identifier: Apache-2.0 */
/* For the daemon's LD_PRELOAD: once the file named by NO_REMAP exists, mapping a perf event fails.
   A preload is needed because the kernel does not charge the pages of a ring that is mapped again,
   so no resource limit makes only that mapping fail. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_perf_event(int fd) {
  char link[64], found[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t len = readlink(link, found, sizeof found - 1);
  found[len > 0 ? len : 0] = '\0';
  return strstr(found, "perf_event") != NULL;
}

void *mmap(void *address, size_t len, int protection, int flags, int fd, off_t offset) {
  const char *flag = getenv("NO_REMAP");
  if (fd >= 0 && flag != NULL && access(flag, F_OK) == 0 && is_perf_event(fd)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return (void *)syscall(SYS_mmap, address, len, protection, flags, fd, offset);
}
