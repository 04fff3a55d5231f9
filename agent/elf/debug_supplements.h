/* SPDX-License-Identifier: Apache-2.0 */
/* Files on this machine to which a program's debug information refers: .dwo files, their .dwp, and
   the file into which dwz has moved common parts. */
#ifndef ELF_DEBUG_SUPPLEMENTS_H
#define ELF_DEBUG_SUPPLEMENTS_H

#include "common/span.h"

#include <stdint.h>
#include <sys/types.h>

enum { DEBUG_SUPPLEMENTS_MAX = 768 };
#define DEBUG_SUPPLEMENTS_BYTES_MAX (1ULL << 30) /* for a program */

struct debug_supplements {
  int fds[DEBUG_SUPPLEMENTS_MAX];
  uint32_t count;
  uint64_t bytes;
};

struct debug_folders;

struct debug_program {
  int fd;                        /* the file with the debug information */
  const char *path;              /* path of the program, or "" */
  const char *root;              /* of its processes (/proc/PID/root), or "" */
  struct debug_folders *folders; /* chosen by the user, or NULL */
};

/* Opens the files that belong to PROGRAM by its own sections or name: the file in
   .gnu_debugaltlink, searched by its name and in the trees of debug files, and PROGRAM.dwp. */
void debug_supplements_find(const struct debug_program *program, struct debug_supplements *ret);

/* Opens the .dwo files of LIST, which has a folder and a name for each, each with its NUL; LIST is
   untrusted. They are searched there, and beside the program. Returns the number of .dwo files
   opened. */
uint32_t debug_supplements_add(const struct debug_program *program, struct span list,
                               struct debug_supplements *supplements);

void debug_supplements_close(struct debug_supplements *supplements);

#endif
