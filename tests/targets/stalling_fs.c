/* SPDX-License-Identifier: Apache-2.0 */
/* A file system of one program, which stops answering on a signal.

     stalling_fs PROGRAM FOLDER    mounts FOLDER/program, a copy of PROGRAM; root only

   SIGUSR1: all further requests stay unanswered. SIGTERM: unmounts and releases all waiting
   processes. It speaks the kernel's FUSE protocol directly, so it needs no library. The kernel may
   cache only file pages: every lookup is a request. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FOLDER_NODE = 1, FILE_NODE = 2, REQUEST_BYTES = 1 << 18, READ_BYTES = 1 << 17 };

static volatile sig_atomic_t is_silent, has_ended;
static int device, backing;
static uint64_t size;

static void on_signal(int number) {
  if (number == SIGUSR1)
    is_silent = 1;
  else
    has_ended = 1;
}

static void answer(const struct fuse_in_header *to, int error, const void *body, size_t len) {
  struct fuse_out_header head = {
      .len = (uint32_t)(sizeof head + len), .error = -error, .unique = to->unique};
  struct iovec pieces[2] = {{&head, sizeof head}, {(void *)(uintptr_t)body, len}};
  if (writev(device, pieces, len > 0 ? 2 : 1) < 0) return; /* the requesting process has gone */
}

static struct fuse_attr attr_of(uint64_t node) {
  struct fuse_attr attr = {.ino = node, .nlink = 1, .blksize = 4096};
  attr.mode = node == FOLDER_NODE ? S_IFDIR | 0755 : S_IFREG | 0755;
  attr.size = node == FOLDER_NODE ? 0 : size;
  return attr;
}

static void init(const struct fuse_in_header *to, const struct fuse_init_in *in) {
  struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION,
                              .minor = FUSE_KERNEL_MINOR_VERSION,
                              .max_readahead = in->max_readahead,
                              .max_write = 4096};
  answer(to, 0, &out, sizeof out);
}

static void look_up(const struct fuse_in_header *to, const char *name) {
  struct fuse_entry_out out = {.nodeid = FILE_NODE, .attr = attr_of(FILE_NODE)};
  bool is_there = to->nodeid == FOLDER_NODE && strcmp(name, "program") == 0;
  answer(to, is_there ? 0 : ENOENT, &out, is_there ? sizeof out : 0);
}

static void read_file(const struct fuse_in_header *to, const struct fuse_read_in *in) {
  static uint8_t bytes[READ_BYTES];
  size_t wanted = in->size < sizeof bytes ? in->size : sizeof bytes;
  ssize_t got = pread(backing, bytes, wanted, (off_t)in->offset);
  answer(to, got < 0 ? EIO : 0, bytes, got < 0 ? 0 : (size_t)got);
}

static void serve(const struct fuse_in_header *in) {
  const void *body = in + 1;
  struct fuse_attr_out attr = {.attr = attr_of(in->nodeid)};
  struct fuse_open_out opened = {.open_flags = FOPEN_KEEP_CACHE};
  switch (in->opcode) {
  case FUSE_INIT:
    init(in, body);
    return;
  case FUSE_LOOKUP:
    look_up(in, body);
    return;
  case FUSE_GETATTR:
    answer(in, 0, &attr, sizeof attr);
    return;
  case FUSE_OPEN:
  case FUSE_OPENDIR:
    answer(in, 0, &opened, sizeof opened);
    return;
  case FUSE_READ:
    read_file(in, body);
    return;
  case FUSE_RELEASE:
  case FUSE_RELEASEDIR:
  case FUSE_FLUSH:
    answer(in, 0, NULL, 0);
    return;
  case FUSE_FORGET:
  case FUSE_BATCH_FORGET:
    return;
  default:
    answer(in, ENOSYS, NULL, 0);
  }
}

int main(int argc, char **argv) {
  static _Alignas(8) uint8_t request[REQUEST_BYTES];
  struct sigaction action = {.sa_handler = on_signal};
  struct stat found;
  char options[96];
  if (argc != 3) return 2;
  backing = open(argv[1], O_RDONLY | O_CLOEXEC);
  device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (backing < 0 || device < 0 || fstat(backing, &found) < 0) return 1;
  size = (uint64_t)found.st_size;
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
           device);
  if (mount("stalling_fs", argv[2], "fuse", MS_NOSUID | MS_NODEV, options) < 0) return 1;
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  while (!has_ended) {
    ssize_t got = read(device, request, sizeof request);
    if (got < 0 && errno != EINTR && errno != ENOENT) break;
    if (got >= (ssize_t)sizeof(struct fuse_in_header) && !is_silent)
      serve((const struct fuse_in_header *)(const void *)request);
  }
  umount2(argv[2], MNT_DETACH);
  return 0;
}
