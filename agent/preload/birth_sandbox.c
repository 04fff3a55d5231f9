/* SPDX-License-Identifier: Apache-2.0 */
/* A launcher, a unit file (SystemCallFilter=) or the program before an exec may have put a filter
   round this one that kills it for a call it did not foresee: a socket, a timer.  Which calls those
   are cannot be asked without rights, and to try them is to die of them.  So the very first thing
   is to count the filters, by the calls that the loader itself has needed to bring us here, and
   with more of them than whoever preloads us has said (FLEETPROF_FILTERS; `run` says how many it
   lives within itself) we do nothing at all.

   Without /proc nothing is known, and the program is taken for a free one, as most are. */
#include "birth_sandbox.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
  PIECE_BYTES = 4096,
  OVERLAP_BYTES = 64, /* a line that we look for is shorter */
  PIECES_MAX = 64,    /* a process may be in thousands of groups */
};

/* The number behind NAME at the beginning of a line; -1: there is no such line, or not all of it.
 */
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
