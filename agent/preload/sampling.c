/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a sampled thread: it gets a slot and a timer that carries the slot's token
   (control.c). At the end a key destructor undoes both, timer first, so that no signal finds a
   freed slot.

   Nothing here allocates: a slot is from a fixed table, and the value of the key is a pointer to
   it. (glibc allocates in each thread for a key beyond the first 32. The agent's key is made in a
   constructor, among the first.)

   fork: the signal is blocked in the caller while it runs. An expiry makes the kernel restart the
   copy of a large process, and a period shorter than the copy would never let it end. The child has
   no timers. It takes a slot of the table, and a slot of the ring only if it lives long enough to
   be sampled.

   An interval timer (itimer) survives exec, and this may be the next program. A periodic timer with
   its signal at its default can only kill the program, so it was the agent's, and it is stopped. A
   timer that expires once is a limit of CPU time set on purpose: it stays, and the program is not
   sampled by itimer.

   A program in a seccomp sandbox may be killed for a system call that it did not foresee. So all
   calls here are made inside the gate (call_gate.c). Once the gate is closed, a thread that ends
   leaves its timer, which is silent from then on, and its slot. Later threads and children are
   counted, not sampled. A sandbox that bypassed the gate is detected by prctl at a thread's start
   and end. A filter that kills for that call cannot be handled. (A sandbox that existed before the
   start has let the agent arm the first thread.) */
#include "sampling.h"
#include "arch.h"
#include "call_gate.h"
#include "control.h"
#include "kernel_words.h"
#include "next_call.h"
#include "process_timer.h"
#include "raw_syscall.h"
#include "ring/ring_clock.h"
#include "ring/ring_process.h"
#include "sampler.h"
#include "signal_room.h"
#include "thread_slot.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static struct {
  struct ring_terms terms;
  pthread_key_t key; /* value: the thread's struct thread_slot */
  bool is_on;
  bool was_sandboxed;
} sampling;

_Static_assert(RING_NAME_BYTES == 16, "the kernel writes 16 bytes of thread name");

static struct kernel_signals our_signal(void) {
  return kernel_signals_of(sampling.terms.signal);
}

static bool is_sandboxed(void) {
  return raw_syscall(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0) > 0;
}

static bool enter_gate(void) {
  if (!call_gate_enter()) return false;
  if (sampling.was_sandboxed || !is_sandboxed()) return true;
  call_gate_leave();
  return false;
}

static void give_back(struct thread_slot *thread) {
  /* The child of a fork without handlers (_Fork, raw clone) holds its parent's slot, not its
     own. */
  uint64_t own = ring_owner(raw_getpid(), raw_gettid());
  if (wide_peek(&thread->owner) != own) return;
  if (control_end_thread(thread) != 0) return;
  if (thread->ring != NULL) ring_writer_release(thread->ring);
  thread_slot_release(thread);
}

static void end_thread(void *value) {
  if (!enter_gate()) return;
  give_back(value);
  call_gate_leave();
}

static bool is_default(int signal) {
  struct sigaction now;
  if (sigaction(signal, NULL, &now) != 0) return false;
  return (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
}

void sampling_end_inherited(enum ring_clock clock) {
  bool is_periodic = false;
  if (clock == RING_CLOCK_THREAD || !is_default(ring_clock_signal(clock))) return;
  if (process_timer_runs(clock, &is_periodic) && is_periodic) process_timer_clear(clock);
}

static const char *find_obstacle(enum ring_clock clock, int signal) {
  bool is_periodic;
  if (!is_default(signal))
    return "not sampled: the program ignores or handles the sampler's signal itself";
  if (clock != RING_CLOCK_THREAD && process_timer_runs(clock, &is_periodic))
    return "not sampled: the program has an interval timer of this kind already";
  return NULL;
}

const char *sampling_obstacle(enum ring_clock clock) {
  return find_obstacle(clock, ring_clock_signal(clock));
}

static int take_signal(void) {
  struct sigaction ours = {.sa_sigaction = control_on_signal,
                           .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
  /* All other signals are blocked in the handler, so nothing can jump out of it and leave the slot
     marked busy. Fault signals stay unblocked, as a debugger or crash reporter expects. */
  sigfillset(&ours.sa_mask);
  static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};
  for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&ours.sa_mask, faults[i]);
  return sigaction(sampling.terms.signal, &ours, NULL) == 0 ? 0 : -errno;
}

/* The number of this user's queued signals, as reported by the kernel; 0 if unknown. */
static rlim_t queued_signals(void) {
  char text[1024];
  int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t got = read(fd, text, sizeof text - 1);
  close(fd);
  text[got > 0 ? got : 0] = '\0';
  const char *line = strstr(text, "\nSigQ:\t");
  rlim_t queued = 0;
  for (line = line ? line + 7 : ""; *line >= '0' && *line <= '9'; line++)
    queued = queued * 10 + (rlim_t)(*line - '0');
  return queued;
}

/* A timer occupies one of its user's queued signals as long as it exists. The limit is shared by
   all processes of the user, so a quarter is left to them. */
static uint32_t timers_max(void) {
  struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(RLIMIT_SIGPENDING, &limit);
  rlim_t share = limit.rlim_cur / 4 * 3 + limit.rlim_cur % 4;
  rlim_t queued = queued_signals();
  share = share > queued ? share - queued : 0;
  return share < UINT32_MAX ? (uint32_t)share : UINT32_MAX;
}

uint32_t sampling_note_unload(void) {
  uint32_t unloads = ring_writer_count_unload(sampler_ring());
  const struct thread_slot *own = pthread_getspecific(sampling.key);
  bool are_told = own != NULL;
  for (unsigned i = 0; are_told && i < thread_slot_used(); i++) {
    struct thread_slot *slot = thread_slot_at(i);
    bool is_of_process = wide_peek(&slot->owner) >> 32 == wide_peek(&own->owner) >> 32;
    are_told = !is_of_process || thread_slot_tell(slot, NULL);
  }
  if (!are_told) atomic_store(&ring_writer_unload_log(sampler_ring())->lost, unloads);
  return unloads;
}

void sampling_name_thread(uintptr_t self, const char *name) {
  struct thread_slot *thread = sampling_is_on() ? thread_slot_of(self) : NULL;
  /* A vfork child has the thread pointer of its parent, and the parent's name must stay. */
  if (thread != NULL && !control_is_elsewhere()) thread_slot_tell(thread, name);
}

void sampling_skip(void) {
  ring_writer_count_unsampled(sampler_ring());
}

void sampling_note_cramped(void) {
  ring_writer_count_cramped(sampler_ring());
}

int sampling_start(const struct ring_writer *ring, const struct ring_terms *terms, uint64_t seed) {
  sampling.terms = *terms;
  sampling.was_sandboxed = is_sandboxed();
  int error = pthread_key_create(&sampling.key, end_thread);
  if (error != 0) return -error;
  sampler_init(ring);
  sampler_mask_calls[0] = (uintptr_t)next_call("pthread_sigmask");
  sampler_mask_calls[1] = (uintptr_t)next_call("sigprocmask");
  control_init(terms, seed, timers_max());
  error = find_obstacle(terms->clock, terms->signal) == NULL ? take_signal() : -EBUSY;
  if (error != 0) {
    sampling_skip();
    pthread_key_delete(sampling.key);
    return error;
  }
  control_begin_process(raw_getpid());
  ring_writer_unload_log(ring)->is_told = 1;
  sampling.is_on = true;
  return 0;
}

bool sampling_is_on(void) {
  return sampling.is_on;
}

bool sampling_is_by_thread(void) {
  return sampling.terms.clock == RING_CLOCK_THREAD;
}

void sampling_shun(void) {
  struct kernel_signals ours = our_signal();
  sampling_skip();
  if (sampling_is_by_thread() || !call_gate_enter()) return;
  raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (uintptr_t)&ours, 0, sizeof ours);
  call_gate_leave();
}

static int arm(struct thread_slot *thread) {
  int error = pthread_setspecific(sampling.key, thread);
  if (error != 0) return -error;
  error = control_begin_thread(thread);
  if (error != 0) pthread_setspecific(sampling.key, NULL);
  return error;
}

static bool begin(const struct unwind_stack *stack) {
  control_poll();
  if (control_has_left()) return false;
  struct thread_slot *thread = thread_slot_claim(ring_owner(raw_getpid(), raw_gettid()));
  if (thread == NULL) return false;
  thread->stack = *stack;
  thread->stack.high &= ~(uintptr_t)(sizeof(uintptr_t) - 1);
  atomic_store(&thread->self, arch_thread_pointer());
  memset(thread->name, 0, sizeof thread->name);
  raw_syscall(SYS_prctl, PR_GET_NAME, (uintptr_t)thread->name, 0, 0);
  if (arm(thread) == 0) return true;
  thread_slot_release(thread);
  return false;
}

void sampling_begin(const struct unwind_stack *stack) {
  bool may_call = enter_gate();
  if (!may_call || !begin(stack)) sampling_skip();
  if (may_call) call_gate_leave();
}

int sampling_signal(void) {
  return sampling.terms.signal;
}

bool sampling_leave(void) {
  if (control_is_elsewhere()) return false;
  struct thread_slot *thread = pthread_getspecific(sampling.key);
  if (thread == NULL && sampling_is_by_thread()) return false;
  pthread_setspecific(sampling.key, NULL);
  if (thread != NULL) end_thread(thread);
  sampling_shun();
  return true;
}

void sampling_before_fork(void) {
  struct thread_slot *thread = pthread_getspecific(sampling.key);
  ring_process_begin_fork(sampler_ring());
  if (thread == NULL) return;
  thread->is_forking = call_gate_enter();
  if (!thread->is_forking) return;
  struct kernel_signals ours = our_signal(), before = {{0}};
  raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (uintptr_t)&ours, (uintptr_t)&before, sizeof ours);
  thread->was_blocked = kernel_signals_has(&before, sampling.terms.signal);
}

static void restore_mask(bool was_blocked) {
  struct kernel_signals ours = our_signal();
  if (!was_blocked) raw_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, (uintptr_t)&ours, 0, sizeof ours);
}

void sampling_after_fork(void) {
  struct thread_slot *thread = pthread_getspecific(sampling.key);
  if (thread == NULL || !thread->is_forking) return;
  restore_mask(thread->was_blocked);
  thread->is_forking = false;
  call_gate_leave();
}

void sampling_in_child(void) {
  struct thread_slot *parents = pthread_getspecific(sampling.key);
  struct unwind_stack stack = {.low = 0};
  bool was_blocked = true; /* an unsampled caller: its mask was not changed */
  if (parents != NULL) {
    stack = parents->stack;
    was_blocked = !parents->is_forking || parents->was_blocked;
  }
  pthread_setspecific(sampling.key, NULL);
  call_gate_in_child();
  bool may_call = enter_gate();
  if (may_call)
    control_begin_process(raw_getpid());
  else
    ring_process_end_fork(sampler_ring());                  /* no process to sample */
  bool is_too_small = may_call && signal_room_is_missing(); /* as in its parent */
  if (!is_too_small) sampling_begin(&stack);
  restore_mask(was_blocked);
  if (is_too_small) {
    sampling_note_cramped();
    sampling_shun();
  }
  if (may_call) call_gate_leave();
}
