/* SPDX-License-Identifier: Apache-2.0 */
/* Files that the debug information of a program refers to and that lie on this machine: .dwo files,
   a .dwp of them, and what dwz has moved out of several files. */
#ifndef ELF_DEBUG_SUPPLEMENTS_H
#define ELF_DEBUG_SUPPLEMENTS_H

#include "common/span.h"

#include <stdint.h>
#include <sys/types.h>

enum { DEBUG_SUPPLEMENTS_MAX = 768 };
#define DEBUG_SUPPLEMENTS_BYTES_MAX (1ULL << 30) /* of one program */

struct debug_supplements {
  int fds[DEBUG_SUPPLEMENTS_MAX];
  uint32_t count;
  uint64_t bytes;
};

struct debug_folders;

struct debug_program {
  int fd;                        /* the file whose debug information is read */
  const char *path;              /* where the program is, or "" */
  const char *root;              /* of its processes (/proc/PID/root), or "" */
  struct debug_folders *folders; /* of the user's choice, or NULL */
};

/* Opens what belongs to PROGRAM by its own sections or name: the file of .gnu_debugaltlink, looked
   for by its name and in the trees of debug files, and PROGRAM.dwp. */
void debug_supplements_find(const struct debug_program *program, struct debug_supplements *ret);

/* Opens the .dwo files of LIST, which has a folder and a name for each, each with its NUL; LIST is
   untrusted.  They are looked for there, and beside the program.  Returns how many there are. */
uint32_t debug_supplements_add(const struct debug_program *program, struct span list,
                               struct debug_supplements *supplements);

void debug_supplements_close(struct debug_supplements *supplements);

#endif
