/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the file system of a device number in /proc/PID/maps with /proc/PID/mountinfo, without a
   request to the file system itself. */
#ifndef PROC_MOUNT_INFO_H
#define PROC_MOUNT_INFO_H

#include "common/span.h"

#include <sys/types.h>

/* The file system type on LINE, if it is a mount of DEVICE (mount_info_device), else empty.
   Pure. */
struct span mount_info_type(struct span line, uint64_t device);

/* Whether a file system of TYPE depends on a server or a user-space program, and so may not answer.
   Pure. */
bool mount_info_can_stall(struct span type);

static inline uint64_t mount_info_device(uint32_t major, uint32_t minor) {
  return (uint64_t)major << 32 | minor;
}

/* Whether DEVICE, as mounted for PID (0: this process), can stall; false if it is unknown. */
bool mount_info_is_far(pid_t pid, uint64_t device);

enum { MOUNT_IDS_MAX = 1024 };

/* Mounts of our own mount namespace. */
struct mount_ids {
  uint32_t count;
  int ids[MOUNT_IDS_MAX];
};

/* Reads the current mounts, at most MOUNT_IDS_MAX. */
void mount_ids_read(struct mount_ids *ret);
bool mount_ids_has(const struct mount_ids *ids, int id);
/* The mount through which FD was opened; -1: unknown. */
int mount_id_of(int fd);

#endif
