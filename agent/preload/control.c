/* SPDX-License-Identifier: Apache-2.0 */
/* A thread's timer is touched by two: the thread itself, at its start and end, and whoever obeys a
   change, which may be a signal handler in any thread, at any instruction of those two.  So nobody
   waits: a slot is closed by compare-and-swap, and who finds it closed goes on.  Nothing is missed:

     obeys:   store the wish, raise `epoch`, close the slot?  no: its thread is at work on it
     thread:  close, set the timer to the wish, open, look at `epoch` again: another?  once more

   with all four in one order (seq_cst), one of them sees the other.  Only a thread's end has to
   have its slot, and sleeps for it: the other side makes three system calls at most.

   The handler makes system calls here and nowhere else, and only when they were permitted for this
   very change: the sampling itself has none, and a sandbox that a program enters after it started
   never sees one of ours (call_gate.c; the permission is for sandboxes that come past it).  A
   process that is not permitted goes on with the timers that it has and records nothing while
   paused.

   Where the process's one clock makes the signals (itimer) there is one timer instead, touched by
   whoever holds `busy`; threads only note what an expiry stands for.  It starts EXEC_GRACE_NS late:
   what is about to exec, as shells do after a fork, must not leave a timer behind that expires
   before the next program has met it.

   The sample comes first, so that it still has the weight of the period that it ends.  The thread
   that obeys stands right behind it: its next one comes a whole new period after it, for a random
   part of one would be a gift of half a period with each change.  To the other threads the change
   comes at any time; what is left of their old period becomes the same part of the new one, which
   gives and takes alike.  An expiry that is on its way meanwhile is weighed with the new period: an
   error of less than one sample a thread and change.  Since Linux 6.13 the kernel drops it, and the
   daemon makes fewer changes for it (targets/stride.c). */
#include "control.h"
#include "arch.h"
#include "call_gate.h"
#include "kernel_words.h"
#include "memory_guest.h"
#include "process_timer.h"
#include "raw_syscall.h"
#include "ring/divide.h"
#include "ring/ring_process.h"
#include "sample_timer.h"
#include "sampler.h"
#include "thread_slot.h"

#include <errno.h>
#include <stddef.h>

enum {
  CLOSE_TRIES = 1000, /* then the slot and its timer, which is silent once the thread has ended, */
  CLOSE_WAIT_NS = 50000, /* stay as they are until the process ends: 50 ms and more */
  EXEC_GRACE_NS = 20000000,
};

static struct {
  struct ring_terms terms;
  uint64_t seed;
  uint32_t pid;
  const _Atomic uint32_t *serial;   /* the ring's: every signal looks at it */
  struct ring_process *_Atomic row; /* NULL: the daemon does not know of this process */
  _Atomic uint32_t busy;            /* somebody obeys */
  _Atomic uint32_t seen;            /* serial */
  _Atomic uint32_t is_on;           /* the wish */
  _Atomic uint32_t scale;           /* the wish: units to an expiry */
  _Atomic uint32_t epoch;           /* of the wish */
  _Atomic uint32_t armed;           /* threads that have a timer */
  _Atomic uint32_t randomness;      /* makes seeds differ */
  uint32_t timers_max;              /* so that a quarter of the user's queued signals stays free */
  uint32_t process_scale;           /* itimer: what it is set to, 0: not set; by who holds busy */
  _Atomic uint32_t is_off;          /* for good */
  _Atomic uint32_t has_left;        /* enum ring_left; off if set */
} control;

static void take_wish(void) {
  enum ring_control wish = ring_process_control(sampler_ring());
  if (wish == RING_OFF) atomic_store(&control.is_off, 1);
  atomic_store(&control.scale, ring_process_scale(sampler_ring(), control.terms.unit_ns));
  atomic_store(&control.is_on, wish == RING_RUN);
  atomic_fetch_add(&control.epoch, 1);
}

void control_init(const struct ring_terms *terms, uint64_t seed, uint32_t timers_max) {
  control.timers_max = timers_max;
  control.terms = *terms;
  control.seed = seed;
  control.serial = ring_process_serial_word(sampler_ring());
  atomic_store(&control.seen, ring_process_serial(sampler_ring()));
  take_wish();
}

static void count_armed(int more) {
  uint32_t armed = atomic_fetch_add(&control.armed, (uint32_t)more) + (uint32_t)more;
  struct ring_process *row = atomic_load(&control.row);
  if (row != NULL) ring_process_say_armed(row, armed);
}

/* One at a time enters the row, or obeys. */
static bool hold(void) {
  uint32_t nobody = 0;
  return atomic_compare_exchange_strong(&control.busy, &nobody, 1);
}

static void let_go(void) {
  atomic_store(&control.busy, 0);
}

bool control_has_left(void) {
  return atomic_load(&control.has_left) != 0;
}

static struct ring_process *enter(void) {
  struct ring_process *row = atomic_load(&control.row);
  if (row != NULL) return row;
  row = ring_process_enter(sampler_ring(), control.pid);
  enum ring_left left = (enum ring_left)atomic_load(&control.has_left);
  if (row != NULL && left != RING_LEFT_NOT) ring_process_say_left(row, left);
  atomic_store(&control.row, row);
  count_armed(0);
  return row;
}

void control_begin_process(uint32_t pid) {
  bool is_first = control.pid == 0;
  control.pid = pid;
  atomic_store(&control.row, NULL);
  atomic_store(&control.busy, 0);
  atomic_store(&control.armed, 0);
  control.process_scale = 0;
  for (unsigned i = 0; i < thread_slot_used(); i++) {
    thread_slot_close(thread_slot_at(i));
    atomic_store(&thread_slot_at(i)->self, 0);
  }
  struct ring_process *row = enter();
  if (row != NULL) ring_process_say_seen(sampler_ring(), row, atomic_load(&control.seen));
  if (!is_first) ring_process_end_fork(sampler_ring());
}

static uint64_t next_seed(uint32_t tid) {
  uint64_t turn = atomic_fetch_add_explicit(&control.randomness, 1, memory_order_relaxed);
  return control.seed ^ (uint64_t)tid << 32 ^ turn << 8;
}

static void disarm(struct thread_slot *thread) {
  if (thread->timer < 0) return;
  sample_timer_disarm(thread->timer);
  thread->timer = -1;
  count_armed(-1);
}

static bool is_wanted(void) {
  return atomic_load(&control.is_on) && !atomic_load(&control.is_off);
}

static bool is_by_process(void) {
  return control.terms.clock != RING_CLOCK_THREAD;
}

static struct process_timer timer_of_process(uint32_t scale) {
  return (struct process_timer){control.terms.clock, scale * control.terms.unit_ns};
}

static void note_process_scale(uint32_t scale) {
  int more = (scale != 0) - (control.process_scale != 0);
  control.process_scale = scale;
  if (more != 0) count_armed(more);
}

/* Makes the process's timer what the wish says.  By who holds busy. */
static void apply_to_process(uint64_t grace_ns) {
  uint32_t scale = atomic_load(&control.scale), before = control.process_scale;
  struct process_timer old = timer_of_process(before);
  if (!is_wanted()) {
    if (before != 0) process_timer_stop(&old);
    note_process_scale(0);
    return;
  }
  if (before == scale) return;
  struct process_timer ours = timer_of_process(scale);
  /* Whoever obeys a change of the period stands right behind an expiry, as a thread in apply. */
  uint64_t first_ns = ours.period_ns;
  if (before == 0) first_ns = grace_ns + sample_timer_first_ns(first_ns, next_seed(control.pid));
  int error = process_timer_set(&ours, first_ns, old.period_ns);
  if (error != 0) ring_writer_count_refused(sampler_ring());
  note_process_scale(error == 0 ? scale : 0);
}

/* The first thread of a process, in a place where system calls are permitted. */
static void begin_process_timer(void) {
  if (!hold()) return;
  if (control.process_scale == 0) apply_to_process(EXEC_GRACE_NS);
  let_go();
}

static uint64_t period_of(const struct thread_slot *thread) {
  return atomic_load(&thread->scale) * control.terms.unit_ns;
}

/* WHOLE * PART / OF.  Periods have at most 36 bits (ring_process.c); 28 of PART are enough, and no
   product is longer than a word: 128 bits would be divided by a function of the compiler's. */
static uint64_t share_of(uint64_t whole, uint64_t part, uint64_t of) {
  for (; of >> 28 != 0; of >>= 1) part >>= 1;
  return divide(whole * part, of);
}

/* CPU time from now to the next sample of THREAD, whose timer runs, if its period became
   PERIOD_NS; IS_OWN: in its own handler. */
static uint64_t due_ns_of(const struct thread_slot *thread, uint64_t period_ns, bool is_own) {
  uint64_t old_ns = period_of(thread), left_ns = sample_timer_left_ns(thread->timer);
  if (left_ns > old_ns) left_ns = old_ns;
  if (!is_own) return 1 + share_of(period_ns - 1, left_ns, old_ns);
  uint64_t spent_ns = old_ns - left_ns;
  return spent_ns < period_ns ? period_ns - spent_ns : 1;
}

/* Stops THREAD's timer until the wish is another. */
static void pause_thread(struct thread_slot *thread, bool is_own) {
  if (thread->timer < 0) return;
  thread->due_ns = is_own ? due_ns_of(thread, period_of(thread), true) : 0;
  disarm(thread);
}

/* CPU time to the first sample of THREAD, which has no timer. */
static uint64_t first_ns_of(const struct thread_slot *thread, uint64_t period_ns) {
  if (thread->due_ns != 0 && thread->due_ns < period_ns) return thread->due_ns;
  if (thread->due_ns != 0) return period_ns;
  return sample_timer_first_ns(period_ns, next_seed((uint32_t)wide_load(&thread->owner)));
}

/* Makes the timer of THREAD, which the caller has closed, what the wish says. */
static int apply(struct thread_slot *thread, bool is_own) {
  uint32_t scale = atomic_load(&control.scale);
  if (is_by_process()) {
    atomic_store(&thread->scale, scale);
    return 0;
  }
  if (!is_wanted()) {
    pause_thread(thread, is_own);
    return 0;
  }
  bool is_armed = thread->timer >= 0;
  if (is_armed && atomic_load(&thread->scale) == scale) return 0;
  uint64_t period_ns = scale * control.terms.unit_ns;
  struct sample_timer_plan plan = {.signal = control.terms.signal,
                                   .period_ns = period_ns,
                                   .first_ns = is_armed ? due_ns_of(thread, period_ns, is_own)
                                                        : first_ns_of(thread, period_ns)};
  atomic_store(&thread->scale, scale);
  if (is_armed) return sample_timer_set(&plan, thread->timer);
  int error = -EAGAIN;
  if (atomic_load(&control.armed) < control.timers_max)
    error = sample_timer_arm(&plan, (uint32_t)wide_load(&thread->owner), thread_slot_token(thread),
                             &thread->timer);
  if (error == 0)
    count_armed(1);
  else
    ring_writer_count_refused(sampler_ring());
  return error;
}

int control_begin_thread(struct thread_slot *thread) {
  int error;
  uint32_t epoch;
  if (is_by_process()) begin_process_timer();
  do {
    epoch = atomic_load(&control.epoch);
    error = apply(thread, false);
    if (error != 0) return error;
    thread_slot_open(thread);
  } while (atomic_load(&control.epoch) != epoch && thread_slot_close(thread));
  return 0;
}

/* By whoever must have the slot. */
static bool close_at_last(struct thread_slot *thread) {
  struct kernel_time wait = {0, CLOSE_WAIT_NS};
  for (unsigned tries = 0; !thread_slot_close(thread); tries++) {
    if (tries == CLOSE_TRIES) return false;
    raw_syscall(SYS_nanosleep, (uintptr_t)&wait, 0, 0, 0);
  }
  return true;
}

int control_end_thread(struct thread_slot *thread) {
  if (!close_at_last(thread)) return -EBUSY;
  disarm(thread);
  return 0;
}

static bool is_of_this_process(struct thread_slot *thread) {
  return wide_load(&thread->owner) >> 32 == control.pid;
}

static void obey(struct ring_process *row, uint32_t serial) {
  const struct thread_slot *self = thread_slot_of(arch_thread_pointer());
  take_wish();
  if (is_by_process()) apply_to_process(0);
  for (unsigned i = 0; i < thread_slot_used(); i++) {
    struct thread_slot *thread = thread_slot_at(i);
    if (!is_of_this_process(thread) || !thread_slot_close(thread)) continue;
    apply(thread, thread == self);
    thread_slot_open(thread);
  }
  atomic_store(&control.seen, serial);
  ring_process_say_seen(sampler_ring(), row, serial);
}

static bool is_due(uint32_t *ret_serial) {
  *ret_serial = ring_process_serial(sampler_ring());
  return *ret_serial != atomic_load_explicit(&control.seen, memory_order_relaxed);
}

void control_poll(void) {
  uint32_t serial;
  if (!is_due(&serial) || !hold()) return;
  obey(enter(), serial);
  let_go();
}

static __attribute__((noinline, cold)) void obey_if_permitted(void) {
  uint32_t serial;
  if (!is_due(&serial) || !call_gate_enter()) return;
  if (hold()) {
    struct ring_process *row = enter();
    if (row != NULL && ring_process_ask(row, serial)) obey(row, serial);
    let_go();
  }
  call_gate_leave();
}

bool control_is_elsewhere(void) {
  if (memory_guest_is_self()) return true;
  if (!call_gate_enter()) return false;
  bool is_elsewhere = raw_getpid() != control.pid;
  call_gate_leave();
  return is_elsewhere;
}

bool control_leave(enum ring_left why) {
  struct kernel_time wait = {0, CLOSE_WAIT_NS};
  if (control_is_elsewhere()) return false;
  if (atomic_exchange(&control.has_left, (uint32_t)why) != 0) return false;
  atomic_store(&control.is_off, 1);
  atomic_fetch_add(&control.epoch, 1);
  for (unsigned tries = 0; tries < CLOSE_TRIES && !hold(); tries++)
    raw_syscall(SYS_nanosleep, (uintptr_t)&wait, 0, 0, 0);
  struct ring_process *row = enter();
  if (row != NULL) ring_process_say_left(row, why);
  if (is_by_process()) apply_to_process(0);
  for (unsigned i = 0; i < thread_slot_used(); i++) {
    struct thread_slot *thread = thread_slot_at(i);
    if (!is_of_this_process(thread) || !close_at_last(thread)) continue;
    disarm(thread);
    thread_slot_open(thread);
  }
  let_go();
  return true;
}

bool control_is_own(const siginfo_t *event) {
  uintptr_t value = (uintptr_t)event->si_value.sival_ptr;
  if (is_by_process() && event->si_code == SI_KERNEL) return true;
  if (event->si_code == SI_TIMER) return thread_slot_find((const void *)value) != NULL;
  return event->si_code == SI_QUEUE && value != 0 && value == control.terms.nudge_token;
}

/* The shortest way of a sample, for pairs: few lines of code in one place, and five of data (the
   slots of the thread and of the ring, the ring's header, the pair, the stack's top).  Returns
   false, with nothing done, for whatever is not as nearly always: the sampler knows the rest. */
static inline __attribute__((always_inline)) bool
take_pair(struct thread_slot *thread, const siginfo_t *event, const void *context) {
  struct ring_slot *slot = thread->ring;
  const struct ring_header *header = thread->header;
  uint32_t weight = atomic_load_explicit(&thread->scale, memory_order_relaxed);
  uintptr_t pc, link;
  if (thread->pair_bits == 0) return false;
  /* At once: a branch each would take a further line of code. */
  uint32_t differs = atomic_load_explicit(&header->control, memory_order_relaxed) ^ RING_RUN;
  differs |= atomic_load_explicit(&header->serial, memory_order_relaxed) ^ thread->seen;
  differs |= (uint32_t)event->si_overrun | arch_may_have_waited(event->si_signo, context);
  if (differs != 0 || weight > RING_PAIR_WEIGHT_MAX ||
      wide_peek(&slot->owner) != wide_peek(&thread->owner))
    return false;
  /* Acquire and release pair with each other, here and in the sampler. */
  uint32_t idle = THREAD_SLOT_IDLE;
  bool is_mine = atomic_compare_exchange_strong_explicit(
      &thread->busy, &idle, THREAD_SLOT_BUSY, memory_order_acquire, memory_order_relaxed);
  if (!is_mine) return false;
  arch_read_pair(context, &thread->stack, &pc, &link);
  struct ring_pair pair = {ring_word(pc, &weight), link};
  bool is_put = ring_slot_append_pair(slot, 1U << thread->pair_bits, pair);
  atomic_store_explicit(&thread->busy, THREAD_SLOT_IDLE, memory_order_release);
  return is_put;
}

/* A nudge is a signal like any other: no sample, and a look at the serial.  THREAD is NULL when the
   signal was of no thread that is known. */
static __attribute__((noinline)) void take_any(const siginfo_t *event, const void *context,
                                               struct thread_slot *thread) {
  sampler_take(thread, event, context);
  uint32_t serial = atomic_load_explicit(control.serial, memory_order_relaxed);
  if (__builtin_expect(serial != atomic_load_explicit(&control.seen, memory_order_relaxed), 0))
    obey_if_permitted();
  else if (thread != NULL)
    thread->seen = serial;
}

__attribute__((hot, aligned(64))) void control_on_signal(int signal, siginfo_t *event,
                                                         void *context) {
  struct thread_slot *thread = thread_slot_find(event->si_value.sival_ptr);
  (void)signal;
  bool is_done = thread != NULL && event->si_code == SI_TIMER && take_pair(thread, event, context);
  if (__builtin_expect(!is_done, 0)) take_any(event, context, thread);
}
