/* SPDX-License-Identifier: Apache-2.0 */
/* The sender chooses the number of descriptors, and padding may let the kernel put one more into a
   buffer than it was sized for.  So they are counted here, and excess ones are closed, not left
   open in a process that runs for months. */
#include "passed_fds.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* musl's macro converts signs. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
static struct cmsghdr *next_header(struct msghdr *packet, struct cmsghdr *head) {
  return CMSG_NXTHDR(packet, head);
}
#pragma GCC diagnostic pop

unsigned passed_fds_take(struct msghdr *packet, int *fds, unsigned fds_max) {
  unsigned count = 0;
  for (struct cmsghdr *head = CMSG_FIRSTHDR(packet); head; head = next_header(packet, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    size_t more = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < more; i++) {
      int fd;
      memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
      if (count < fds_max)
        fds[count++] = fd;
      else
        close(fd);
    }
  }
  return count;
}
