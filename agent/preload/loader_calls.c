/* SPDX-License-Identifier: Apache-2.0 */
/* The loader puts a new library where an unloaded one stood, nearly always.  A sample in there says
   which of the two only to somebody who knows that there was a change: so dlclose tells the daemon
   (unloads.c there), before anything goes and after.  dlopen is left alone: it looks at its caller
   to find a library's own search path, and what it maps anew nobody can mistake for something else.

   Not met here: what libc unloads by itself (a character set, a name service), which does not come
   through dlclose; there the daemon's reading the mappings anew with each window has to do. */
#include "sampling.h"

#include <dlfcn.h>

typedef int close_fn(void *);

/* ISO C has no conversion from an object pointer to a function pointer; POSIX promises it. */
union symbol {
  void *object;
  close_fn *close;
};

__attribute__((visibility("default"))) int dlclose(void *library) {
  union symbol real = {.object = dlsym(RTLD_NEXT, "dlclose")};
  if (real.object == NULL) return -1;
  sampling_note_unload();
  int error = real.close(library);
  sampling_note_unload();
  return error;
}
