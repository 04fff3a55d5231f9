/* SPDX-License-Identifier: Apache-2.0 */
/* Two parties change a thread's timer: the thread itself, at its start and end, and the thread that
   applies a control change. The latter may be a signal handler in any thread, which interrupts any
   instruction of the former. So neither waits: a slot is closed by compare-and-swap, and a party
   that finds it closed skips it. No change is lost:

     applies: store the request, increment `epoch`, close the slot; if closed, its thread handles it
     thread:  close, set the timer as requested, open, read `epoch` again; if changed, repeat

   All four accesses are in one total order (seq_cst), so one of the parties sees the other. Only a
   thread's end must have its slot. It sleeps for it: the other party makes at most three system
   calls.

   The handler makes system calls only here, and only if they were permitted for this change.
   Sampling itself makes none, so a sandbox that a program enters later never sees a call of the
   agent (call_gate.c). The permission covers sandboxes that bypass the gate. A process without the
   permission keeps its timers and records nothing while paused.

   With the process's interval timer (itimer) there is one timer instead, which only the holder of
   `busy` changes. Threads only note the weight of an expiry. It starts EXEC_GRACE_NS late. The
   reason: a process that is about to exec, as shells do after a fork, must not leave a timer. It
   could expire before the next program has found it.

   The sample is taken before a change is applied, so it has the weight of the period that it ends.
   The applying thread is then right after an expiry, and its next sample follows after a whole new
   period. A random part of a period would give away half a period with each change. For the other
   threads the change is at a random point of their period. The remaining fraction of the old period
   becomes the same fraction of the new one, which is unbiased. An expiry already in flight is
   weighed with the new period: an error below one sample for each thread and change. Since Linux
   6.13 the kernel drops such an expiry, so the daemon makes fewer changes there
   (targets/stride.c). */
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
  CLOSE_TRIES = 1000,    /* then slot and timer (silent once the thread has ended) stay until the */
  CLOSE_WAIT_NS = 50000, /* process ends: 50 ms and more */
  EXEC_GRACE_NS = 20000000,
};

static struct {
  struct ring_terms terms;
  uint64_t seed;
  uint32_t pid;
  const _Atomic uint32_t *serial;   /* of the ring; every signal compares it */
  struct ring_process *_Atomic row; /* NULL: the daemon has no row for this process */
  _Atomic uint32_t busy;            /* lock: a thread applies a change */
  _Atomic uint32_t seen;            /* serial last applied */
  _Atomic uint32_t is_on;           /* requested state */
  _Atomic uint32_t scale;           /* requested scale: units for each expiry */
  _Atomic uint32_t epoch;           /* incremented with each request */
  _Atomic uint32_t armed;           /* threads with a timer */
  _Atomic uint32_t randomness;      /* varies the seeds */
  uint32_t timers_max;              /* leaves a quarter of the user's queued signals free */
  uint32_t process_scale;           /* itimer: its current scale, 0: not set; protected by busy */
  _Atomic uint32_t is_off;          /* permanently */
  _Atomic uint32_t has_left;        /* enum ring_left; nonzero: off */
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

/* Try-lock: one thread at a time enters the row or applies a change. */
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

/* Sets the process's timer as requested. The caller holds busy. */
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
  /* The thread that applies a change of the period is right after an expiry, as in apply. */
  uint64_t first_ns = ours.period_ns;
  if (before == 0) first_ns = grace_ns + sample_timer_first_ns(first_ns, next_seed(control.pid));
  int error = process_timer_set(&ours, first_ns, old.period_ns);
  if (error != 0) ring_writer_count_refused(sampler_ring());
  note_process_scale(error == 0 ? scale : 0);
}

/* For the first thread of a process, where system calls are permitted. */
static void begin_process_timer(void) {
  if (!hold()) return;
  if (control.process_scale == 0) apply_to_process(EXEC_GRACE_NS);
  let_go();
}

static uint64_t period_of(const struct thread_slot *thread) {
  return atomic_load(&thread->scale) * control.terms.unit_ns;
}

/* WHOLE * PART / OF. Periods have at most 36 bits (ring_process.c). PART is cut to 28 bits, so no
   product exceeds a word: compilers divide 128 bits by a library function. */
static uint64_t share_of(uint64_t whole, uint64_t part, uint64_t of) {
  for (; of >> 28 != 0; of >>= 1) part >>= 1;
  return divide(whole * part, of);
}

/* CPU time from now to the next sample of THREAD, which has a running timer, if its period became
   PERIOD_NS. IS_OWN: called in THREAD's own handler. */
static uint64_t due_ns_of(const struct thread_slot *thread, uint64_t period_ns, bool is_own) {
  uint64_t old_ns = period_of(thread), left_ns = sample_timer_left_ns(thread->timer);
  if (left_ns > old_ns) left_ns = old_ns;
  if (!is_own) return 1 + share_of(period_ns - 1, left_ns, old_ns);
  uint64_t spent_ns = old_ns - left_ns;
  return spent_ns < period_ns ? period_ns - spent_ns : 1;
}

/* Stops THREAD's timer until the request changes. */
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

/* Sets the timer of THREAD, which the caller has closed, as requested. */
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

/* For a caller that must have the slot: waits for it. False if the slot stays closed for
   CLOSE_TRIES. */
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

/* The fast path of a sample, for pairs. It uses few, contiguous lines of code and five of data: the
   slots of the thread and of the ring, the ring's header, the pair, and the top of the stack.
   Returns false, with nothing done, in every unusual case; sampler_take then handles it. */
static inline __attribute__((always_inline)) bool
take_pair(struct thread_slot *thread, const siginfo_t *event, const void *context) {
  struct ring_slot *slot = thread->ring;
  const struct ring_header *header = thread->header;
  uint32_t weight = atomic_load_explicit(&thread->scale, memory_order_relaxed);
  uintptr_t pc, link;
  if (thread->pair_bits == 0) return false;
  /* All conditions are combined: a branch for each would need one more line of code. */
  uint32_t differs = atomic_load_explicit(&header->control, memory_order_relaxed) ^ RING_RUN;
  differs |= atomic_load_explicit(&header->serial, memory_order_relaxed) ^ thread->seen;
  differs |= (uint32_t)event->si_overrun | arch_may_have_waited(event->si_signo, context);
  if (differs != 0 || weight > RING_PAIR_WEIGHT_MAX ||
      wide_peek(&slot->owner) != wide_peek(&thread->owner))
    return false;
  /* Acquire: partner of the release that stores THREAD_SLOT_IDLE, below and in sampler.c. */
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

/* A nudge is handled as any other signal: no sample, but a check of the serial. THREAD is NULL if
   the signal belongs to no known thread. */
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
