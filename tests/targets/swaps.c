/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a library, works in it, unloads it, and does the same with another for half as long. The
   loader nearly always maps each at the other's previous address.

     swaps FILE OTHER MILLISECONDS SECONDS

   Prints how often a library got the address of the previous one. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double spent(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void *work_in(const char *file, double seconds) {
  void *library = dlopen(file, RTLD_NOW);
  void *symbol = library != NULL ? dlsym(library, "plugin_work") : NULL;
  if (symbol == NULL) {
    fprintf(stderr, "swaps: %s\n", dlerror());
    exit(1);
  }
  double (*work)(double) = (double (*)(double))(uintptr_t)symbol;
  work(seconds);
  dlclose(library);
  return symbol;
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  double seconds = strtod(argv[3], NULL) / 1000, end = strtod(argv[4], NULL);
  unsigned same = 0;
  for (void *place = NULL; spent() < end;) {
    void *first = work_in(argv[1], 2 * seconds), *second = work_in(argv[2], seconds);
    same += (unsigned)(first == place) + (unsigned)(second == first);
    place = second;
  }
  printf("%u\n", same);
  return 0;
}
