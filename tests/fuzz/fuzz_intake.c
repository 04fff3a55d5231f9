/* SPDX-License-Identifier: Apache-2.0 */
/* A packet as any program may send it to the daemon: the first byte is the number of descriptors,
   the rest is the packet. It is sent through a real socket. Any packet gets a verdict, strings of
   an accepted packet are terminated, and no descriptor stays open. */
#include "daemon/intake_packet.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FDS_MAX = 253 /* SCM_MAX_FD: the kernel lets no more through */ };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* The lowest free number: the same again when none was left open. */
static int lowest_free(void) {
  int fd = dup(STDIN_FILENO);
  if (fd >= 0) close(fd);
  return fd;
}

static void send_packet(int socket, const uint8_t *data, size_t len, unsigned fd_count) {
  union {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
  } control;
  int fds[FDS_MAX];
  struct iovec piece = {(void *)(uintptr_t)data, len};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
  for (unsigned i = 0; i < fd_count; i++) fds[i] = STDERR_FILENO;
  if (fd_count > 0) {
    memset(&control, 0, sizeof control);
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(fd_count * sizeof(int));
    memcpy(CMSG_DATA(&control.head), fds, fd_count * sizeof(int));
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
  }
  sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static bool is_ended(const char *text, size_t size) {
  return strnlen(text, size) < size;
}

static void check(const struct intake_received *packet) {
  const struct intake_request *request = &packet->request;
  if (packet->len != sizeof *request || request->magic != INTAKE_MAGIC) abort();
  if (request->version != INTAKE_VERSION || packet->fd_count > INTAKE_FDS_MAX) abort();
  if (!is_ended(request->sampler, sizeof request->sampler)) abort();
  if (!is_ended(request->service, sizeof request->service)) abort();
  if (!is_ended(request->labels, sizeof request->labels)) abort();
  if (!is_ended(request->exe, sizeof request->exe)) abort();
  if (!is_ended(request->why, sizeof request->why)) abort();
  if (!is_ended(request->argv, sizeof request->argv)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct intake_received packet;
  int pair[2], before = lowest_free();
  if (len == 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) return 0;
  send_packet(pair[0], data + 1, len - 1, data[0] < FDS_MAX ? data[0] : FDS_MAX);
  int error = intake_packet_receive(pair[1], &packet);
  if (error == 0 && intake_packet_judge(&packet) == NULL) check(&packet);
  if (error == 0) intake_packet_close(&packet);
  if (error != 0 && error != -EAGAIN && error != -ECONNRESET) abort();
  close(pair[0]);
  close(pair[1]);
  if (lowest_free() != before) abort();
  return 0;
}
