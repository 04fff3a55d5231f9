/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of hand-written assembler that compilers do not make, on x86-64. Each KIND spins in a leaf
   below a known chain of callers.

     strange_frames KIND [MILLISECONDS]

     faulted   a handler runs for a fault in the first instruction of a function
     by_reg    a frame addressed by a register that calls do not preserve: r9, rcx, r11 in turn
     calling   the same in rax, and the function calls a helper that leaves rax alone
     moved     the return address is in rdi
     pushing   no unwind information: a loop pushes a variable number of words; %rbp is kept
     made      a stack made by hand: its first function returns to another one's first byte */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

enum { STACK_WORDS = 8192 };

#define NOINLINE __attribute__((noinline))
#define FUNCTION(name, body)                                                                \
  ".p2align 4\n.globl " name "\n.type " name ",@function\n" name ":\n.cfi_startproc\n" body \
  ".cfi_endproc\n.size " name ",.-" name "\n"
#define UNTOLD(name, body)                                                                \
  ".p2align 4\n.globl " name "\n.type " name ",@function\n" name ":\n" body ".size " name \
  ",.-" name "\n"
#define LOOP "8: imul $5, %rdx, %rdx\n dec %rdi\n jnz 8b\n"
#define COUNTED_FROM(name, reg)                                                       \
  FUNCTION(name,                                                                      \
           " mov %rsp, %" reg "\n .cfi_def_cfa_register %" reg "\n sub $0x80, %rsp\n" \
           " and $-64, %rsp\n" LOOP " mov %" reg ", %rsp\n .cfi_def_cfa_register %rsp\n ret\n")

int never_called(void), faults(const int *);
void in_r9(long), in_rcx(long), in_r11(long), calls_with_rax(long), popped(long);
void pushes(long, long), enter(void *, void (*)(void));
extern char left_behind[];

__asm__(
    ".text\n" FUNCTION(
        "never_called",
        " nopl 0(%rax)\n ret\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n"
        " nop\n nop\n nop\n nop\n") FUNCTION("faults",
                                             " mov (%rdi), %eax\n ret\n") COUNTED_FROM("in_r9",
                                                                                       "r9")
        COUNTED_FROM("in_rcx", "rcx") COUNTED_FROM("in_r11", "r11") FUNCTION(
            "helper", LOOP
            " ret\n") FUNCTION("calls_with_rax",
                               " mov %rsp, %rax\n .cfi_def_cfa_register %rax\n sub $0x48, %rsp\n"
                               " and $-64, %rsp\n call helper\n mov %rax, %rsp\n"
                               " .cfi_def_cfa_register %rsp\n ret\n")
            FUNCTION("popped",
                     " pop %rsi\n .cfi_adjust_cfa_offset -8\n .cfi_register %rip, %rsi\n" LOOP
                     " jmp *%rsi\n") UNTOLD("told_nowhere", LOOP " ret\n")
                UNTOLD(
                    "pushes",
                    " push %rbp\n mov %rsp, %rbp\n push %rdi\n jmp 2f\n1: push $3\n"
                    "2: dec %rsi\n jge 1b\n call told_nowhere\n mov %rbp, %rsp\n pop %rbp\n ret\n")
    /* Entered with a stack of its own; the word above its first function's frame is an address
       that no call has left. */
    FUNCTION("left_behind", " mov %rbx, %rsp\n pop %rbx\n .cfi_undefined %rip\n ret\n")
        UNTOLD("enter", " push %rbx\n mov %rsp, %rbx\n mov %rdi, %rsp\n jmp *%rsi\n"));

static volatile uint64_t sink;
static double milliseconds = 1000;

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static NOINLINE void spin(void) {
  for (double end = now_ms() + 20; now_ms() < end;)
    for (int i = 0; i < 100000; i++) sink += (uint64_t)i;
}

static void on_fault(int signal, siginfo_t *event, void *context) {
  (void)signal;
  (void)event;
  spin();
  ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2; /* behind the load */
}

static NOINLINE void faulted(void) {
  static const int *nowhere;
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  if (nowhere == NULL) {
    sigaction(SIGSEGV, &action, NULL);
    nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  sink += (uint64_t)faults(nowhere);
}

static NOINLINE void by_reg(void) {
  in_r9(5000000);
  in_rcx(5000000);
  in_r11(5000000);
  __asm__ volatile("");
}

static NOINLINE void calling(void) {
  calls_with_rax(5000000);
  __asm__ volatile("");
}

static NOINLINE void moved(void) {
  popped(5000000);
  __asm__ volatile("");
}

static NOINLINE void pushing(void) {
  static long words;
  pushes(5000000, words++ % 40);
  __asm__ volatile("");
}

static NOINLINE void first(void) {
  spin();
  __asm__ volatile("");
}

static NOINLINE void made(void) {
  static uintptr_t words[STACK_WORDS];
  words[STACK_WORDS - 7] = (uintptr_t)left_behind;
  enter(&words[STACK_WORDS - 7], first);
  __asm__ volatile("");
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } kinds[] = {{"faulted", faulted}, {"by_reg", by_reg},   {"calling", calling},
               {"moved", moved},     {"pushing", pushing}, {"made", made}};
  if (argc > 2) milliseconds = atof(argv[2]);
  for (size_t i = 0; argc > 1 && i < sizeof kinds / sizeof *kinds; i++)
    while (strcmp(argv[1], kinds[i].name) == 0 && now_ms() < milliseconds) kinds[i].run();
  return argc > 1 ? 0 : 2;
}
