/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel can reclaim pages of files (the databases, mapped symbol indexes), so they do not
   count. Memory in use is resident less shared of /proc/self/statm, which takes microseconds to
   read.

   The limit is memory.max of the process's control group and of all above it. With cgroup v1, or in
   a container without a view of its own group, only the machine's memory is known. */
#include "memory_use.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 512 };
#define CGROUPS "/sys/fs/cgroup"

uint64_t memory_use_bytes(void) {
  unsigned long long total, resident, shared;
  FILE *file = fopen("/proc/self/statm", "re");
  if (file == NULL) return 0;
  int count = fscanf(file, "%llu %llu %llu", &total, &resident, &shared);
  fclose(file);
  if (count != 3 || resident < shared) return 0;
  return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Returns the limit of the control group in folder PATH; UINT64_MAX: none. */
static uint64_t limit_of(const char *path) {
  char name[PATH_BYTES + sizeof "/memory.max"];
  unsigned long long bytes = UINT64_MAX;
  snprintf(name, sizeof name, "%s/memory.max", path);
  FILE *file = fopen(name, "re");
  if (file == NULL) return UINT64_MAX;
  if (fscanf(file, "%llu", &bytes) != 1) bytes = UINT64_MAX; /* "max" */
  fclose(file);
  return bytes;
}

/* Returns the least limit of this process's control group and those above it. */
static uint64_t group_limit(void) {
  char line[PATH_BYTES], path[PATH_BYTES];
  uint64_t least = UINT64_MAX;
  FILE *file = fopen("/proc/self/cgroup", "re");
  if (file == NULL) return least;
  path[0] = '\0';
  while (fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, "0::/", 4) == 0 && strlen(line) + sizeof CGROUPS < sizeof path)
      snprintf(path, sizeof path, CGROUPS "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
  fclose(file);
  while (strlen(path) >= sizeof CGROUPS - 1 && path[0] != '\0') {
    uint64_t limit = limit_of(path);
    if (limit < least) least = limit;
    *strrchr(path, '/') = '\0';
  }
  return least;
}

uint64_t memory_use_allowed(void) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  uint64_t bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
  uint64_t limit = group_limit();
  if (limit < bytes) bytes = limit;
  return bytes == UINT64_MAX ? 0 : bytes / 5 * 4;
}
