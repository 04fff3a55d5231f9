/* SPDX-License-Identifier: Apache-2.0 */
/* Which file system a device number of /proc/PID/maps is of, as /proc/PID/mountinfo tells without
   asking the file system itself. */
#ifndef PROC_MOUNT_INFO_H
#define PROC_MOUNT_INFO_H

#include "common/span.h"

#include <sys/types.h>

/* The type on LINE when it is a mount of DEVICE (mount_info_device), else empty.  Pure. */
struct span mount_info_type(struct span line, uint64_t device);

/* A file system of TYPE answers when somebody else does: a server, or a program.  Pure. */
bool mount_info_can_stall(struct span type);

static inline uint64_t mount_info_device(uint32_t major, uint32_t minor) {
  return (uint64_t)major << 32 | minor;
}

/* DEVICE, as PID (0: we ourselves) sees it mounted, can stall; false when it is not known. */
bool mount_info_is_far(pid_t pid, uint64_t device);

enum { MOUNT_IDS_MAX = 1024 };

/* Mounts of our own mount namespace. */
struct mount_ids {
  uint32_t count;
  int ids[MOUNT_IDS_MAX];
};

/* Reads which there are now, the first MOUNT_IDS_MAX. */
void mount_ids_read(struct mount_ids *ret);
bool mount_ids_has(const struct mount_ids *ids, int id);
/* The mount that FD was opened through; -1: not known. */
int mount_id_of(int fd);

#endif
