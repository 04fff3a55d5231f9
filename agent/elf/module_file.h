/* SPDX-License-Identifier: Apache-2.0 */
/* A file that a target has mapped: finds, opens and recognizes it. */
#ifndef ELF_MODULE_FILE_H
#define ELF_MODULE_FILE_H

#include "elf_notes.h"

#include <sys/types.h>

enum {
  MODULE_SHA256_BYTES = 32,
  MODULE_HASH_BYTES_MAX = 64 << 20, /* a larger file without build-id gets no identity */
};

#define MODULE_OWNER_UNSURE UINT32_MAX /* others can have written it, or it is unknown */

/* Distinguishes states of a file without reading it. */
struct module_stamp {
  uint64_t device, inode, size_bytes;
  int64_t modified_ns;
  uint32_t owner; /* the only uid besides root that can have written it, or MODULE_OWNER_UNSURE */
  bool is_public; /* every user may read it; not part of the comparison */
};

struct module_identity {
  struct elf_notes notes;
  uint8_t id[LIMIT_MODULE_ID_BYTES];
  uint32_t id_bytes;
  uint64_t first_hash; /* unload_hash of its first segment, if that begins the file */
};

/* A file that a process has mapped. */
struct module_wanted {
  const char *path;
  pid_t pid;              /* 0: no particular process */
  uint64_t device, inode; /* as in the mapping (mount_info.h); 0: unknown */
};

/* Opens WANTED as its process sees it (through /proc/PID/root), or as the daemon does if the
   process is gone. Another file under the same name is rejected, and a file without a name is
   opened through one of the process's links. RET_OPEN_PATH, of at least LIMIT_PATH_BYTES + 32
   bytes, is the path that worked. Returns the descriptor, or -errno (-ESTALE for another file). */
int module_file_open(const struct module_wanted *wanted, char *ret_open_path);

struct mapping;
/* True if MAPPING, of WANTED's process, maps code of that file. Pure. */
bool module_file_is_mapped(const struct module_wanted *wanted, const struct mapping *mapping);

/* Returns 0, or -errno; -EINVAL if FD is no regular file. */
int module_file_stamp(int fd, struct module_stamp *ret);

/* Reads FD's identity: build-id, or the SHA-256 of a content of at most MODULE_HASH_BYTES_MAX.
   Returns 0, -EFBIG if it is too large for the latter, or another -errno. */
int module_file_identify(int fd, const struct module_stamp *stamp, struct module_identity *ret);

#endif
