/* SPDX-License-Identifier: Apache-2.0 */
/* Closes a library after the start of another library, loaded later, has become unreadable.

     closes FILE OTHER protect     the first page of OTHER is protected
     closes FILE OTHER truncate    OTHER, a file that the caller owns, is truncated to nothing

   Prints how many times the first library was closed. It exits by _exit: a normal exit would make
   the loader call functions of OTHER. */
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROUNDS = 5 };

static void *load(const char *file) {
  void *library = dlopen(file, RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "closes: %s\n", dlerror());
    _exit(1);
  }
  return library;
}

static int spoil(void *library, const char *file, const char *how) {
  struct link_map *map;
  if (strcmp(how, "truncate") == 0) return truncate(file, 0);
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return -1;
  return mprotect((void *)(uintptr_t)map->l_addr, (size_t)getpagesize(), PROT_NONE);
}

int main(int argc, char **argv) {
  void *libraries[ROUNDS];
  unsigned closed = 0;
  if (argc != 4) return 2;
  void *first = load(argv[1]), *other = load(argv[2]);
  for (unsigned i = 0; i < ROUNDS; i++) libraries[i] = i == 0 ? first : load(argv[1]);
  if (spoil(other, argv[2], argv[3]) != 0) return 1;
  for (unsigned i = 0; i < ROUNDS; i++) closed += dlclose(libraries[i]) == 0;
  printf("%u\n", closed);
  fflush(stdout);
  _exit(0);
}
