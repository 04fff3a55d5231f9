/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the loader. Everything is looked up by name, because a symbol that a libc lacks would end
   the program at its start. glibc's pthread_atfork is linked statically and calls
   __register_atfork. musl has the function itself, which ignores the fourth argument: the library
   that owns the handlers, NULL here because they stay. */
#include "next_call.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

typedef int at_fork_fn(void (*)(void), void (*)(void), void (*)(void), void *);

void *next_call(const char *name) {
  return dlsym(RTLD_NEXT, name);
}

int next_call_at_fork(void (*before)(void), void (*after)(void), void (*in_child)(void)) {
  /* ISO C has no conversion from an object pointer to a function pointer; POSIX promises it. */
  union {
    void *object;
    at_fork_fn *at_fork;
  } found = {.object = dlsym(RTLD_DEFAULT, "__register_atfork")};
  if (found.object == NULL) found.object = dlsym(RTLD_DEFAULT, "pthread_atfork");
  if (found.object == NULL) return -ENOSYS;
  return -found.at_fork(before, after, in_child, NULL);
}
