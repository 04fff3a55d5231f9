/* SPDX-License-Identifier: Apache-2.0 */
/* A message is one packet: a verb, the target as plain bytes, and the descriptors with it.  The
   worker waits for the supervisor's answer, because a target may get a ring only when the
   supervisor holds it: otherwise a kill -9 in between would lose the ring's records.  This wait is
   the only place where the worker's loop blocks; the supervisor answers in microseconds.

   The supervisor may be late (stopped, or on a machine that swaps).  Then only the registration is
   lost.  Answers carry the serial of their request, so a late answer is recognized and discarded.
   A request without an answer is revoked by a later message.  While a request is unread, no further
   answer is waited for.  Only the end of the socket means the end of the supervisor.

   Both ends are of one build, so the struct needs no encoding.  Lengths are checked all the same,
   because this exists for workers that are killed in mid-write. */
#include "hold.h"

#include "common/clock.h"
#include "intake/passed_fds.h"
#include "ring/ring_format.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum hold_verb { HOLD_KEEP = 1, HOLD_DROP = 2, HOLD_UPDATE = 3, HOLD_FILE = 4 };

struct hold_message {
  uint64_t serial; /* time of the request: no two are concurrent */
  uint32_t verb;
  struct hold_target target;
};

struct hold_answer {
  uint64_t serial; /* of the request */
  int32_t error;
};

union hold_control {
  struct cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int) * INTAKE_FDS_MAX)];
};

struct hold_entry *hold_table_add_take(struct hold_table *table, const struct hold_target *target,
                                       const int *fds) {
  for (unsigned i = 0; i < HOLD_TARGETS_MAX; i++) {
    if (table->entries[i] != NULL) continue;
    struct hold_entry *entry = malloc(sizeof *entry + sizeof(int) * hold_fds(target));
    if (entry == NULL) return NULL;
    entry->target = *target;
    memcpy(entry->fds, fds, sizeof(int) * hold_fds(target));
    table->entries[i] = entry;
    if (target->id > table->last_id) table->last_id = target->id;
    return entry;
  }
  return NULL;
}

void hold_close_fds(struct hold_target *target, const int *fds) {
  for (uint32_t i = 0; i < hold_fds(target); i++) close(fds[i]);
  hold_clear_fds(target);
}

static void entry_free(struct hold_entry *entry) {
  hold_close_fds(&entry->target, entry->fds);
  free(entry);
}

/* Closes the descriptors of ID and removes it; unknown ids are ignored. */
static void remove_entry(struct hold_table *table, uint32_t id) {
  for (unsigned i = 0; i < HOLD_TARGETS_MAX; i++) {
    if (table->entries[i] == NULL || table->entries[i]->target.id != id) continue;
    entry_free(table->entries[i]);
    table->entries[i] = NULL;
    return;
  }
}

/* A new worker repeats the requests of its predecessor. */
static bool has_file(const struct hold_table *table, int fd) {
  struct stat wanted, held;
  if (fstat(fd, &wanted) != 0) return false;
  for (unsigned i = 0; i < HOLD_FILES_MAX && i < table->file_count; i++)
    if (fstat(table->files[i], &held) == 0 && held.st_dev == wanted.st_dev &&
        held.st_ino == wanted.st_ino)
      return true;
  return false;
}

static void add_file_take(struct hold_table *table, int fd) {
  if (has_file(table, fd)) {
    close(fd);
    return;
  }
  int *place = &table->files[table->file_count % HOLD_FILES_MAX];
  if (table->file_count >= HOLD_FILES_MAX) close(*place);
  *place = fd;
  table->file_count++;
}

static int update(struct hold_table *table, const struct hold_target *target) {
  for (unsigned i = 0; i < HOLD_TARGETS_MAX; i++) {
    struct hold_entry *entry = table->entries[i];
    if (entry == NULL || entry->target.id != target->id) continue;
    const struct hold_target before = entry->target;
    entry->target = *target;
    entry->target.fd_count = before.fd_count;
    entry->target.region_fd_count = before.region_fd_count;
    entry->target.exit_fd_count = before.exit_fd_count;
    return 0;
  }
  return -ENOENT;
}

void hold_table_fini(struct hold_table *table) {
  for (unsigned i = 0; i < HOLD_TARGETS_MAX; i++)
    if (table->entries[i] != NULL) entry_free(table->entries[i]);
  for (unsigned i = 0; i < HOLD_FILES_MAX && i < table->file_count; i++) close(table->files[i]);
  memset(table, 0, sizeof *table);
}

void hold_table_switch_back(const struct hold_table *table) {
  for (unsigned i = 0; i < HOLD_TARGETS_MAX; i++) {
    const struct hold_entry *entry = table->entries[i];
    if (entry == NULL || !entry->target.is_apart || entry->target.is_killed) continue;
    if (entry->target.control != RING_RUN) continue;
    for (uint32_t at = 0; at < entry->target.fd_count; at++)
      ioctl(entry->fds[at], PERF_EVENT_IOC_ENABLE, 0);
  }
}

static uint64_t now_ms(void) {
  return clock_monotonic_ns() / NS_PER_MS;
}

/* Returns 0 with an answer, -EAGAIN if there is none yet, -ECONNRESET at the end. */
static int receive_answer(int socket, struct hold_answer *ret) {
  ssize_t got = recv(socket, ret, sizeof *ret, MSG_DONTWAIT);
  if (got == (ssize_t)sizeof *ret) return 0;
  return got < 0 && (errno == EAGAIN || errno == EINTR) ? -EAGAIN : -ECONNRESET;
}

static int wait_answer(int socket, uint64_t serial) {
  struct pollfd ready = {.fd = socket, .events = POLLIN};
  struct hold_answer answer;
  uint64_t deadline = now_ms() + HOLD_ACK_TIMEOUT_MS;
  for (;;) {
    int error = receive_answer(socket, &answer);
    if (error == 0 && answer.serial == serial) return answer.error;
    if (error != 0 && error != -EAGAIN) return error;
    uint64_t now = now_ms();
    if (now >= deadline) return -ETIMEDOUT;
    if (poll(&ready, 1, (int)(deadline - now)) < 0 && errno != EINTR) return -errno;
  }
}

bool hold_has_ended(int socket) {
  struct hold_answer late;
  int error;
  do error = receive_answer(socket, &late);
  while (error == 0);
  return error != -EAGAIN;
}

/* The supervisor has not read the previous request. */
static bool is_late(int socket) {
  int unread = 0;
  return ioctl(socket, SIOCOUTQ, &unread) == 0 && unread > 0;
}

static int send_message(int socket, struct hold_message *message, const int *fds) {
  union hold_control control;
  struct iovec piece = {message, sizeof *message};
  struct msghdr packet = {.msg_iov = &piece, .msg_iovlen = 1};
  size_t fd_bytes = sizeof(int) * hold_fds(&message->target);
  if (fd_bytes > 0) {
    memset(&control, 0, sizeof control);
    packet.msg_control = control.bytes;
    packet.msg_controllen = CMSG_SPACE(fd_bytes);
    struct cmsghdr *head = CMSG_FIRSTHDR(&packet);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(fd_bytes);
    memcpy(CMSG_DATA(head), fds, fd_bytes);
  }
  return sendmsg(socket, &packet, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* If the supervisor is slow, sends without waiting: messages are read in order. */
static int ask(int socket, struct hold_message *message, const int *fds) {
  bool is_waited_for = !is_late(socket);
  message->serial = clock_monotonic_ns();
  int error = send_message(socket, message, fds);
  return error == 0 && is_waited_for ? wait_answer(socket, message->serial) : error;
}

int hold_send_keep(int socket, const struct hold_target *target, const int *fds) {
  struct hold_message message = {.verb = HOLD_KEEP, .target = *target};
  struct hold_message back = {.verb = HOLD_DROP, .target = {.id = target->id}};
  if (hold_fds(target) > INTAKE_FDS_MAX) return -EOVERFLOW;
  if (is_late(socket)) return -ETIMEDOUT;
  int error = ask(socket, &message, fds);
  if (error == -ETIMEDOUT) send_message(socket, &back, NULL);
  return error;
}

int hold_send_drop(int socket, uint32_t id) {
  struct hold_message message = {.verb = HOLD_DROP, .target = {.id = id}};
  return ask(socket, &message, NULL);
}

int hold_send_update(int socket, const struct hold_target *target) {
  struct hold_message message = {.verb = HOLD_UPDATE, .target = *target};
  hold_clear_fds(&message.target); /* an update carries no descriptors */
  return ask(socket, &message, NULL);
}

int hold_send_file(int socket, int fd) {
  struct hold_message message = {.verb = HOLD_FILE, .target = {.fd_count = 1}};
  return ask(socket, &message, &fd);
}

static int32_t serve_message(struct hold_message *message, struct hold_table *table,
                             const int *fds) {
  switch (message->verb) {
  case HOLD_KEEP:
    return hold_table_add_take(table, &message->target, fds) ? 0 : -ENOSPC;
  case HOLD_DROP:
    remove_entry(table, message->target.id);
    return 0;
  case HOLD_UPDATE:
    return update(table, &message->target);
  case HOLD_FILE:
    if (hold_fds(&message->target) != 1) return -EBADMSG;
    add_file_take(table, fds[0]);
    return 0;
  default:
    return -EPROTO;
  }
}

int hold_serve(int socket, struct hold_table *table) {
  union hold_control control;
  struct hold_message message;
  int fds[INTAKE_FDS_MAX];
  struct iovec piece = {&message, sizeof message};
  struct msghdr packet = {.msg_iov = &piece,
                          .msg_iovlen = 1,
                          .msg_control = control.bytes,
                          .msg_controllen = sizeof control.bytes};
  ssize_t got = recvmsg(socket, &packet, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0) return errno == EAGAIN || errno == EINTR ? -EAGAIN : -ECONNRESET;
  if (got == 0) return -ECONNRESET;
  unsigned count = passed_fds_take(&packet, fds, INTAKE_FDS_MAX);
  struct hold_answer answer = {.error = -EBADMSG};
  bool is_whole = got == (ssize_t)sizeof message;
  if (is_whole) answer.serial = message.serial;
  if (is_whole && count == hold_fds(&message.target))
    answer.error = serve_message(&message, table, fds);
  if (answer.error != 0)
    for (unsigned i = 0; i < count; i++) close(fds[i]);
  return send(socket, &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -ECONNRESET : 0;
}
