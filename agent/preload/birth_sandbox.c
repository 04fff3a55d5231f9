/* SPDX-License-Identifier: Apache-2.0 */
/* A launcher, a unit file (SystemCallFilter=) or the program before an exec may have installed a
   seccomp filter. It may kill this program for an unforeseen call: a socket, a timer. A process
   cannot query which calls its filters allow without privileges, and trying them is fatal. So the
   constructor first counts the filters, using only system calls that the loader has already made to
   load the agent. If there are more filters than FLEETPROF_FILTERS declares, the agent does
   nothing. `run` sets that variable to the number of filters around itself.

   Without /proc the count is unknown. The program is then assumed to be free of filters, as most
   are. */
#include "birth_sandbox.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
  PIECE_BYTES = 4096,
  OVERLAP_BYTES = 64, /* longer than any line that is searched for */
  PIECES_MAX = 64,    /* a process may be in thousands of groups */
};

/* The number after NAME at the beginning of a line; -1 if there is no complete line of that
   kind. */
static long number_behind(const char *text, size_t len, const char *name) {
  size_t name_len = strlen(name);
  for (size_t at = 0; at + name_len < len; at++) {
    if ((at > 0 && text[at - 1] != '\n') || memcmp(text + at, name, name_len) != 0) continue;
    long number = 0;
    for (at += name_len; at < len && (text[at] == '\t' || text[at] == ' '); at++) continue;
    for (; at < len && text[at] >= '0' && text[at] <= '9' && number < 1 << 16; at++)
      number = number * 10 + (text[at] - '0');
    return at < len && text[at] == '\n' ? number : -1;
  }
  return -1;
}

uint32_t birth_sandbox_filters(const char *text, size_t len) {
  long filters = number_behind(text, len, "Seccomp_filters:");
  if (filters >= 0) return (uint32_t)filters;
  return number_behind(text, len, "Seccomp:") > 0 ? 1 : 0;
}

bool birth_sandbox_is_strange(uint32_t known) {
  char piece[OVERLAP_BYTES + PIECE_BYTES];
  size_t kept = 0;
  uint32_t filters = 0;
  int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  for (unsigned i = 0; i < PIECES_MAX; i++) {
    ssize_t got = read(fd, piece + kept, PIECE_BYTES);
    if (got <= 0) break;
    size_t len = kept + (size_t)got;
    uint32_t found = birth_sandbox_filters(piece, len);
    if (found > filters) filters = found;
    kept = len < OVERLAP_BYTES ? len : OVERLAP_BYTES;
    memmove(piece, piece + len - kept, kept);
  }
  close(fd);
  return filters > known;
}
