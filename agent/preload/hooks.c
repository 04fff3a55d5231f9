/* SPDX-License-Identifier: Apache-2.0 */
/* Starts sampling in new threads. pthread_create and C11's thrd_create are two of the calls that
   the agent wraps (exports.map lists all); libcs do not implement the one by the other. A new
   thread starts in a trampoline, which arms its timer and calls the program's function. A key
   destructor handles the thread's end, so pthread_exit, thrd_exit and cancellation need nothing.

   The trampoline's arguments are passed in a small static pool, because the program did not make an
   allocation here. An entry is held only from pthread_create to the first instructions of the new
   thread. If all are in use, the thread starts unsampled.

   The top of the stack is the trampoline's own frame. Its low end follows from the requested size,
   less a margin. The margin is for the thread descriptor and static TLS, which libc keeps above the
   stack in the same mapping. So the bounds stay inside the mapping. Bounds that are too small cost
   the deepest frames of a thread about to overflow; bounds that are too large could send a walk
   into a guard page. pthread_getattr_np reports the exact bounds, but it allocates in the new
   thread.

   fork is handled by pthread_atfork. vfork, posix_spawn and raw clone are not wrapped: their
   children have no timers, and share this memory or exec at once. */
#include "hooks.h"
#include "arch.h"
#include "call_gate.h"
#include "exit_time.h"
#include "next_call.h"
#include "raw_syscall.h"
#include "sampling.h"
#include "signal_room.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <threads.h>

enum {
  STARTS_MAX = 64, /* threads between pthread_create and their first instruction */
  MARGIN_MAX_BYTES = 64 << 10,
  MARGIN_SHARE = 4,                /* a quarter of a small stack */
  LIBC_ROOM_MAX_BYTES = 16 << 20,  /* between the trampoline's frame and the thread's descriptor */
  GIVEN_ROOM_MAX_BYTES = 16 << 10, /* the same on a stack that the program allocated */
};

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef void *start_fn(void *);
typedef int set_name_fn(pthread_t, const char *);
typedef int c11_create_fn(thrd_t *, thrd_start_t, void *);

struct start {
  _Atomic uint32_t taker; /* pid; 0: free.  Another pid: left over by a fork */
  union {
    start_fn *function;
    thrd_start_t c11_function;
  };
  void *argument;
  uintptr_t stack_low; /* 0: unknown; then stack_bytes counts */
  size_t stack_bytes;
};

static create_fn *real_create;
static c11_create_fn *real_c11_create;
static struct start starts[STARTS_MAX];

static struct start *take_start_of(uint32_t pid) {
  for (unsigned i = 0; i < STARTS_MAX; i++) {
    uint32_t taker = atomic_load_explicit(&starts[i].taker, memory_order_relaxed);
    if (taker == pid) continue;
    /* Acquire: partner of the release in give_back. */
    if (atomic_compare_exchange_strong_explicit(&starts[i].taker, &taker, pid, memory_order_acquire,
                                                memory_order_relaxed))
      return &starts[i];
  }
  return NULL;
}

static struct start *take_start(void) {
  if (!call_gate_enter()) return NULL;
  uint32_t pid = raw_getpid();
  call_gate_leave();
  return take_start_of(pid);
}

static void give_back(struct start *start) {
  atomic_store_explicit(&start->taker, 0, memory_order_release);
}

/* The stack that a thread made with ATTRIBUTES will have. */
static void plan_stack(const pthread_attr_t *attributes, struct start *start) {
  start->stack_low = 0;
  start->stack_bytes = 0;
  pthread_attr_t defaults;
  if (attributes == NULL) {
    if (pthread_getattr_default_np(&defaults) != 0) return;
    pthread_attr_getstacksize(&defaults, &start->stack_bytes);
    pthread_attr_destroy(&defaults);
    return;
  }
  void *address = NULL;
  size_t bytes = 0;
  bool is_given = pthread_attr_getstack(attributes, &address, &bytes) == 0 && address != NULL &&
                  (uintptr_t)address + bytes != 0; /* in glibc a stack that ends at 0 means none was
                                                      given */
  if (is_given)
    start->stack_low = (uintptr_t)address;
  else
    pthread_attr_getstacksize(attributes, &start->stack_bytes);
}

/* The start entry for a thread made with ATTRIBUTES, or NULL: the thread is then counted as
   unsampled. */
static struct start *prepare(const pthread_attr_t *attributes, void *argument) {
  struct start *start = take_start();
  if (start == NULL) {
    sampling_skip();
    return NULL;
  }
  start->argument = argument;
  plan_stack(attributes, start);
  return start;
}

/* The trampoline's caller lies between its frame and the thread's descriptor, to which the thread
   pointer points. libcs put the descriptor above the stack in the same mapping. On some CPUs all
   thread-local variables of the program lie between. On a stack that the program allocated the
   descriptor may be elsewhere, so there it must be near. Returns 0 if unknown. */
static uintptr_t top_above(uintptr_t frame, const struct start *start) {
  uintptr_t self = arch_thread_pointer();
  uintptr_t room = start->stack_low == 0 ? LIBC_ROOM_MAX_BYTES : GIVEN_ROOM_MAX_BYTES;
  return self > frame && self - frame <= room ? self : 0;
}

static struct unwind_stack stack_below(uintptr_t top, const struct start *start) {
  size_t bytes = start->stack_bytes;
  size_t margin = bytes / MARGIN_SHARE < MARGIN_MAX_BYTES ? bytes / MARGIN_SHARE : MARGIN_MAX_BYTES;
  uintptr_t low = start->stack_low;
  if (low == 0) low = bytes > 0 && bytes < top ? top - bytes + margin : top;
  return (struct unwind_stack){.low = low, .high = top, .top = top_above(top, start)};
}

/* An empty range is unknown, as for a thread with a stack of the default size. */
static bool has_room_for_signals(const struct unwind_stack *stack) {
  uintptr_t bytes = stack->high - stack->low;
  return bytes == 0 || signal_room_fits(bytes);
}

/* In the new thread, with the trampoline's frame at TOP: copies SHARED to RET, frees it, and begins
   sampling. */
static void begin(struct start *shared, uintptr_t top, struct start *ret) {
  struct unwind_stack stack = stack_below(top, shared);
  ret->function = shared->function;
  ret->argument = shared->argument;
  give_back(shared);
  if (has_room_for_signals(&stack)) {
    sampling_begin(&stack);
    return;
  }
  sampling_note_cramped();
  sampling_shun();
}

static void *trampoline(void *shared) {
  struct start own;
  begin(shared, (uintptr_t)__builtin_frame_address(0), &own);
  return own.function(own.argument);
}

static int c11_trampoline(void *shared) {
  struct start own;
  begin(shared, (uintptr_t)__builtin_frame_address(0), &own);
  return own.c11_function(own.argument);
}

/* ISO C has no conversion from an object pointer to a function pointer; POSIX promises it. */
union symbol {
  void *object;
  create_fn *create;
  c11_create_fn *c11_create;
  set_name_fn *set_name;
};

static create_fn *find_real(void) {
  return ((union symbol){.object = next_call("pthread_create")}).create;
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *restrict thread,
                                                          const pthread_attr_t *restrict attributes,
                                                          void *(*function)(void *),
                                                          void *restrict argument) {
  create_fn *create = real_create != NULL ? real_create : find_real();
  if (create == NULL) return EAGAIN;
  struct start *start = sampling_is_on() ? prepare(attributes, argument) : NULL;
  if (start == NULL) return create(thread, attributes, function, argument);
  start->function = function;
  int error = create(thread, attributes, trampoline, start);
  if (error != 0) give_back(start);
  return error;
}

static c11_create_fn *find_real_c11(void) {
  return ((union symbol){.object = next_call("thrd_create")}).c11_create;
}

/* Never called in a libc without threads.h. */
__attribute__((visibility("default"))) int thrd_create(thrd_t *thread, thrd_start_t function,
                                                       void *argument) {
  c11_create_fn *create = real_c11_create != NULL ? real_c11_create : find_real_c11();
  if (create == NULL) return thrd_error;
  struct start *start = sampling_is_on() ? prepare(NULL, argument) : NULL;
  if (start == NULL) return create(thread, function, argument);
  start->c11_function = function;
  int result = create(thread, c11_trampoline, start);
  if (result != thrd_success) give_back(start);
  return result;
}

/* libc's pthread_setname_np makes its system calls directly, so wrapping prctl is not enough. The
   distance between pthread_self and the thread pointer is the same in all threads. */
__attribute__((visibility("default"))) int pthread_setname_np(pthread_t thread, const char *name) {
  union symbol real = {.object = next_call("pthread_setname_np")};
  if (real.object == NULL) return ENOSYS;
  int error = real.set_name(thread, name);
  uintptr_t apart = (uintptr_t)pthread_self() - arch_thread_pointer();
  if (error == 0) sampling_name_thread((uintptr_t)thread - apart, name);
  return error;
}

static void before_fork(void) {
  if (sampling_is_on()) sampling_before_fork();
}

static void after_fork(void) {
  if (sampling_is_on()) sampling_after_fork();
}

static void in_child(void) {
  exit_time_in_child();
  if (sampling_is_on()) sampling_in_child();
}

int hooks_install(void) {
  real_create = find_real();
  real_c11_create = find_real_c11();
  if (real_create == NULL) return -ENOSYS;
  signal_room_install();
  return next_call_at_fork(before_fork, after_fork, in_child);
}
