/* SPDX-License-Identifier: Apache-2.0 */
/* Files of file systems that answer when somebody else does (a server, a program): a child asks,
   and is waited for only so long. */
#ifndef TARGETS_FAR_FILES_H
#define TARGETS_FAR_FILES_H

#include "elf/module_file.h"

enum {
  FAR_PATIENCE_MS = 200,  /* once, for each device that does not answer */
  FAR_STALLED_MAX = 8,    /* children that wait for an answer; then nobody asks */
  FAR_SILENCE_MS = 60000, /* after it has answered late: until it is asked again */
  FAR_DEVICES_MAX = 32,   /* known by their type */
  FAR_KNOWN_MS = 10000,   /* ... for so long: numbers are given again */
};

struct far_question {
  const char *path;
  pid_t pid; /* 0: nobody that still lives */
  uint64_t device, inode;
};

struct far_answer {
  int error; /* of opening or reading the file */
  struct module_stamp stamp;
  struct module_identity identity;
  char open_path[LIMIT_PATH_BYTES + 32];
};

/* What the child does: it has no descriptor but its own. */
typedef void far_look(const struct far_question *question, struct far_answer *ret);

struct far_stall {
  pid_t child; /* 0: free, or gone since */
  uint64_t device, until_ms;
};

struct far_device {
  uint64_t device, until_ms;
  bool is_far;
};

/* All zero: nothing is known. */
struct far_files {
  struct far_stall stalls[FAR_STALLED_MAX];
  struct far_device devices[FAR_DEVICES_MAX];
  unsigned next; /* device to forget */
};

/* DEVICE, as PID sees it, is of that kind. */
bool far_files_is_far(struct far_files *files, pid_t pid, uint64_t device);

/* Has LOOK (NULL: what far_files.c does itself) answer QUESTION.  Returns 0 with the answer, whose
   error says whether there is one; -ETIMEDOUT when there was none in time, -EBUSY when the device,
   or too many, have not answered before; -errno. */
int far_files_ask(struct far_files *files, const struct far_question *question, far_look *look,
                  struct far_answer *ret);

#endif
