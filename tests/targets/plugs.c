/* SPDX-License-Identifier: Apache-2.0 */
/* Works for a while, loads a library that was not mapped before, bound to its own libraries first,
   and works in that.

     plugs FILE SECONDS     prints the CPU seconds spent in the library */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static volatile uint64_t sink;

__attribute__((noipa)) static void before_the_plugin(void) {
  uint64_t x = 1;
  for (int i = 0; i < 300000000; i++) x = x * 6364136223846793005U + 1442695040888963407U;
  sink = x;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  before_the_plugin();
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND);
  void *symbol = library != NULL ? dlsym(library, "plugin_work") : NULL;
  if (symbol == NULL) {
    fprintf(stderr, "plugs: %s\n", dlerror());
    return 1;
  }
  double (*work)(double) = (double (*)(double))(uintptr_t)symbol;
  printf("%.4f\n", work(strtod(argv[2], NULL)));
  return 0;
}
