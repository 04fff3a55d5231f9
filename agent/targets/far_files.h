/* SPDX-License-Identifier: Apache-2.0 */
/* Files on file systems that depend on a server or another program: a child opens them, with a
   timeout. */
#ifndef TARGETS_FAR_FILES_H
#define TARGETS_FAR_FILES_H

#include "elf/module_file.h"

enum {
  FAR_PATIENCE_MS = 200,  /* once for each device that does not answer */
  FAR_STALLED_MAX = 8,    /* children that wait for an answer; with more, no child is started */
  FAR_SILENCE_MS = 60000, /* after a late answer: until the device is queried again */
  FAR_DEVICES_MAX = 32,   /* with a cached type */
  FAR_KNOWN_MS = 10000,   /* ... for this long, because device numbers are reused */
};

struct far_question {
  const char *path;
  pid_t pid; /* 0: no living process */
  uint64_t device, inode;
};

struct far_answer {
  int error; /* from opening or reading the file */
  struct module_stamp stamp;
  struct module_identity identity;
  char open_path[LIMIT_PATH_BYTES + 32];
};

/* The child's work; the child has no descriptor but its own. */
typedef void far_look(const struct far_question *question, struct far_answer *ret);

struct far_stall {
  pid_t child; /* 0: free, or reaped */
  uint64_t device, until_ms;
};

struct far_device {
  uint64_t device, until_ms;
  bool is_far;
};

/* All zero: empty. */
struct far_files {
  struct far_stall stalls[FAR_STALLED_MAX];
  struct far_device devices[FAR_DEVICES_MAX];
  unsigned next; /* device to evict */
};

/* True if DEVICE, as PID sees it, is remote. */
bool far_files_is_far(struct far_files *files, pid_t pid, uint64_t device);

/* Runs LOOK (NULL: the default of far_files.c) in a child to answer QUESTION. Returns 0 with the
   answer, which has its own error; -ETIMEDOUT without an answer in time; -EBUSY if the device, or
   too many children, have not answered before; or -errno. */
int far_files_ask(struct far_files *files, const struct far_question *question, far_look *look,
                  struct far_answer *ret);

#endif
