/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that sample themselves by forged signals on stacks of the program's own, while another
   thread continuously unmaps and maps the pages beside those stacks. The stacks and those pages are
   alike, so the kernel makes one mapping of them.

   Four kinds of stacks. makecontext's. Two are a switch made by hand: its first function has a
   large frame and returns to a word that is no code, or to a function whose preceding byte is not
   code. The last is a call in the middle of a function whose frame is on another stack, so its
   unwind information is wrong for this stack.

   The ring is emptied here as soon as there are records: otherwise most samples would find it full.

     fibers COUNT THREADS    prints how many samples were walked, and per thousand of them how many
                             were whole, and ended at the memory of another stack */
#include "forger.h"

#include "ring/ring_format.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum {
  PAGE = 4096,
  STACK_PAGES = 16,
  BESIDE_PAGES = 4, /* above each stack, and below the first */
  KINDS = 4,
  DEPTHS = 24,
  SIGNALS_AT_ONCE = 8,
  THREADS_MAX = 16,
  ENDS = 8,
  WHOLE = 1, /* of ring_record: 1 + enum unwind_end */
  OTHER = 5,
};

static struct ring_header *ring;
static atomic_ulong ends[ENDS];
static atomic_bool is_over;
static unsigned long count;

/* A sampled thread. */
struct fiber_thread {
  struct forger agent;
  struct ring_slot *slot;
  uint8_t *memory; /* BESIDE_PAGES, then KINDS times STACK_PAGES and BESIDE_PAGES */
  unsigned depth;
  unsigned long sent;
  ucontext_t home;
};

static struct ring_header *find_ring(void) {
  char line[256];
  unsigned long start = 0;
  FILE *maps = fopen("/proc/self/maps", "re");
  if (maps == NULL) return NULL;
  while (fgets(line, sizeof line, maps) != NULL && start == 0) {
    unsigned long at;
    if (strstr(line, " rw-s ") == NULL || sscanf(line, "%lx", &at) != 1) continue;
    if (((struct ring_header *)at)->magic == RING_MAGIC) start = at;
  }
  fclose(maps);
  return (struct ring_header *)start;
}

static struct ring_slot *find_slot(void) {
  uint64_t own = ring_owner((uint32_t)getpid(), (uint32_t)syscall(SYS_gettid));
  for (uint32_t i = 0; i < ring->slot_count; i++) {
    uint8_t *at = (uint8_t *)ring + ring_slot_offset(i, ring->slot_bytes);
    if (((struct ring_slot *)(void *)at)->owner == own) return (struct ring_slot *)(void *)at;
  }
  return NULL;
}

/* Takes the thread's records out of the ring, as the daemon would. */
static void take_records(struct fiber_thread *thread) {
  if (thread->slot == NULL) thread->slot = find_slot();
  if (thread->slot == NULL) return;
  uint64_t tail = thread->slot->tail, head = thread->slot->head;
  while (tail < head) {
    uint8_t *data = (uint8_t *)thread->slot + RING_SLOT_HEADER_BYTES;
    struct ring_record *record =
        (struct ring_record *)(void *)(data + (tail & (ring->slot_bytes - 1)));
    if (record->size_bytes < sizeof *record) break;
    if (record->depth > 0) ends[(record->flags >> RING_RECORD_END_SHIFT) % ENDS]++;
    tail += record->size_bytes;
  }
  thread->slot->tail = head;
}

static void sample(struct fiber_thread *thread) {
  pid_t self = (pid_t)syscall(SYS_gettid);
  for (unsigned i = 0; i < SIGNALS_AT_ONCE; i++)
    if (forger_send(self, thread->agent.signal, SI_TIMER, thread->agent.token) != 0) exit(3);
  thread->sent += SIGNALS_AT_ONCE;
}

/* Frames of 700 bytes: the deepest stack has five pages of them. */
static __attribute__((noinline)) unsigned deeper(struct fiber_thread *thread, unsigned depth) {
  volatile char frame[650];
  frame[depth % sizeof frame] = (char)depth;
  if (depth == 0)
    sample(thread);
  else
    deeper(thread, depth - 1);
  return (unsigned)frame[depth % sizeof frame];
}

static _Thread_local struct fiber_thread *this_thread;

static void run(void) {
  deeper(this_thread, this_thread->depth);
}

static uint8_t *stack_of(struct fiber_thread *thread, unsigned kind) {
  return thread->memory + (BESIDE_PAGES + kind * (STACK_PAGES + BESIDE_PAGES)) * PAGE;
}

static void run_by_makecontext(struct fiber_thread *thread) {
  ucontext_t own;
  if (getcontext(&own) != 0) exit(4);
  own.uc_stack = (stack_t){.ss_sp = stack_of(thread, 0), .ss_size = STACK_PAGES * PAGE};
  own.uc_link = &thread->home;
  makecontext(&own, run, 0);
  if (swapcontext(&thread->home, &own) != 0) exit(4);
}

#ifdef __x86_64__
/* void switch_stacks(void **from, void *to): saves the callee-saved registers and continues at TO.
 */
void switch_stacks(void **from, void *to);
__asm__(".text\n.globl switch_stacks\n.type switch_stacks,@function\nswitch_stacks:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp,(%rdi)\nmov %rsi,%rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
        ".size switch_stacks,.-switch_stacks\n");

static _Thread_local void *switched_from;

static void run_and_switch_back(void) {
  void *unused;
  run();
  switch_stacks(&unused, switched_from);
}

/* By their unwind information the frame of the former is two pages and two words. */
void begins_behind(void);
__asm__(".text\n.type ends_large,@function\nends_large:\n.cfi_startproc\n"
        ".cfi_def_cfa_offset 8208\nud2\n.cfi_endproc\n.size ends_large,.-ends_large\n"
        ".globl begins_behind\n.type begins_behind,@function\nbegins_behind:\n"
        ".cfi_startproc\nud2\n.cfi_endproc\n.size begins_behind,.-begins_behind\n");

static void run_by_hand(struct fiber_thread *thread, unsigned kind, uintptr_t caller) {
  uintptr_t *top = (uintptr_t *)(void *)(stack_of(thread, kind) + STACK_PAGES * PAGE);
  *--top = 0;
  *--top = 0;
  *--top = caller;
  *--top = (uintptr_t)run_and_switch_back;
  for (unsigned i = 0; i < 6; i++) *--top = 0;
  switch_stacks(&switched_from, top);
}

/* This function's frame is large and elsewhere. */
static __attribute__((noinline)) void run_in_the_middle(struct fiber_thread *thread) {
  volatile char frame[600];
  frame[0] = 1;
  uint8_t *top = stack_of(thread, 2) + STACK_PAGES * PAGE;
  __asm__ volatile("mov %%rsp,%%rbx\nmov %0,%%rsp\ncall *%1\nmov %%rbx,%%rsp"
                   :
                   : "r"(top), "r"(run)
                   : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
  (void)frame[0];
}
#else
static void begins_behind(void) {
}
static void run_by_hand(struct fiber_thread *thread, unsigned kind, uintptr_t caller) {
  (void)kind, (void)caller;
  run_by_makecontext(thread);
}
static void run_in_the_middle(struct fiber_thread *thread) {
  run_by_makecontext(thread);
}
#endif

/* The signal and the token of the calling thread's own timer. */
static void find_timer(struct forger *agent) {
  char line[128];
  unsigned long token = 0;
  int number = 0, tid;
  FILE *timers = fopen("/proc/self/timers", "re");
  while (timers != NULL && fgets(line, sizeof line, timers) != NULL) {
    if (sscanf(line, "signal: %d/%lx", &number, &token) == 2) continue;
    if (sscanf(line, "notify: signal/tid.%d", &tid) != 1 || tid != syscall(SYS_gettid)) continue;
    agent->signal = number;
    agent->token = token;
  }
  if (timers != NULL) fclose(timers);
}

static void *work(void *context) {
  struct fiber_thread *thread = context;
  this_thread = thread;
  find_timer(&thread->agent);
  if (thread->agent.signal == 0) exit(7);
  for (unsigned round = 0; thread->sent < count; round++) {
    thread->depth = round / KINDS % DEPTHS;
    if (round % KINDS == 0) run_by_makecontext(thread);
    if (round % KINDS == 1) run_by_hand(thread, 1, 0xdead);
    if (round % KINDS == 3) run_by_hand(thread, 3, (uintptr_t)begins_behind);
    if (round % KINDS == 2) run_in_the_middle(thread);
    take_records(thread);
  }
  return NULL;
}

/* Unmaps and maps all pages beside THREAD's stacks. */
static void *unmap_and_map(void *context) {
  struct fiber_thread *threads = context;
  for (unsigned turn = 0; !is_over; turn++)
    for (struct fiber_thread *thread = threads; thread->memory != NULL; thread++)
      for (unsigned kind = 0; kind <= KINDS; kind++) {
        uint8_t *beside = thread->memory + kind * (STACK_PAGES + BESIDE_PAGES) * PAGE;
        munmap(beside, BESIDE_PAGES * PAGE);
        if (turn % 4 == 0) usleep(2000); /* long enough for the daemon to read the mappings */
        if (mmap(beside, BESIDE_PAGES * PAGE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != beside)
          exit(5);
      }
  return NULL;
}

int main(int argc, char **argv) {
  static struct fiber_thread threads[THREADS_MAX + 1];
  static pthread_t ids[THREADS_MAX + 1];
  if (argc != 3) return 2;
  unsigned thread_count = (unsigned)strtoul(argv[2], NULL, 10);
  if (thread_count == 0 || thread_count > THREADS_MAX) return 2;
  count = strtoul(argv[1], NULL, 10) / thread_count;
  size_t bytes = (BESIDE_PAGES + KINDS * (STACK_PAGES + BESIDE_PAGES)) * PAGE;
  ring = find_ring();
  if (ring == NULL) {
    puts("no agent");
    return 0;
  }
  for (unsigned i = 0; i < thread_count; i++) {
    threads[i].memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (threads[i].memory == MAP_FAILED) return 1;
  }
  if (pthread_create(&ids[thread_count], NULL, unmap_and_map, threads) != 0) return 1;
  for (unsigned i = 0; i < thread_count; i++)
    if (pthread_create(&ids[i], NULL, work, &threads[i]) != 0) return 1;
  for (unsigned i = 0; i < thread_count; i++) pthread_join(ids[i], NULL);
  is_over = true;
  pthread_join(ids[thread_count], NULL);
  unsigned long all = 0;
  for (unsigned i = 0; i < ENDS; i++) all += ends[i];
  if (all == 0) return 6;
  printf("%lu %lu %lu\n", all, 1000 * ends[WHOLE] / all, 1000 * ends[OTHER] / all);
  return 0;
}
