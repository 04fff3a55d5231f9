/* SPDX-License-Identifier: Apache-2.0 */
/* Has many untrusted files read in the way of the collector's worker.

     hostile_elf take FILE...                      reads the files as they are

     hostile_elf read SEED COUNT FILE...           reads them spoiled, in turn, COUNT times

     hostile_elf write SEED COUNT FOLDER FILE...   writes spoiled files, FOLDER/SEED-NUMBER

   Others refer to a file named *-common (dwz): each file is read with it, intact or spoiled too.

   A child in the worker's sandbox reads until it dies; the next continues behind that file, which
   is reported by its number: `write SEED+NUMBER 1` makes it again. Every resulting index is checked
   in full, and every rejection needs a reason. Prints the results; ends with 1 if an index was
   broken, a reason was missing, or a spoiled file used up the limit of CPU time. */
#include "elf_mutator.h"

#include "common/buf.h"
#include "common/clock.h"
#include "symbol/index_builder.h"
#include "symbol/sandbox.h"
#include "symbol/symbol_index.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CPU_SECONDS_LEAST = 5, FILES_A_CHILD = 256, SLOW_MS = 1000, DEATHS_SHOWN = 20 };

/* Shared by all children, one at a time. */
struct books {
  uint64_t at; /* the file in hand */
  uint64_t began_ns;
  uint64_t good, named_by_dwarf, refused, broken, wordless, slow;
  uint64_t slowest_ns, slowest;
};

struct input {
  uint8_t *bytes;
  size_t len;
};

static struct books *books;
static const struct input *common; /* or NULL */

static void fail(const char *what) {
  perror(what);
  exit(2);
}

static struct input load(const char *path) {
  struct stat status;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &status) != 0) fail(path);
  struct input input = {.len = (size_t)status.st_size};
  input.bytes = mmap(NULL, input.len + MUTATOR_GROWTH_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (input.bytes == MAP_FAILED) fail(path);
  for (size_t done = 0; done < input.len;) {
    ssize_t got = read(fd, input.bytes + done, input.len - done);
    if (got <= 0) fail(path);
    done += (size_t)got;
  }
  close(fd);
  return input;
}

/* Looks up in INDEX every start of a symbol, and some other addresses. */
static void read_file(struct span file, const struct span *supplement) {
  struct buf bytes = {0};
  struct index_summary summary;
  struct symbol_index index = {0};
  char why[256] = "";
  const struct index_input input = {file, INDEX_ALL, supplement, supplement->len > 0, NULL};
  int error = index_builder_build_with(&input, &bytes, &summary, why, sizeof why);
  if (error == 0) {
    bool is_sound =
        symbol_index_parse(buf_span(&bytes), &index) == 0 && symbol_index_verify(&index) == 0;
    struct symbol_frame frames[SYMBOL_CHAIN_MAX];
    for (uint64_t address = 0x1000; is_sound && address < 0x3000; address += 7)
      symbol_index_chain(&index, address, frames);
    symbol_index_fini(&index);
    *(is_sound ? &books->good : &books->broken) += 1;
    if (!is_sound) fprintf(stderr, "  file %llu: a broken index\n", (unsigned long long)books->at);
  } else {
    books->refused++;
    if (why[0] == '\0') {
      books->wordless++;
      fprintf(stderr, "  file %llu: refused (%d) without a word\n", (unsigned long long)books->at,
              error);
    }
  }
  buf_fini(&bytes);
}

/* ROOM is twice as long as the longest file may become, for the supplement. */
static void read_one(const struct input *inputs, size_t input_count, uint64_t seed,
                     struct span room) {
  uint8_t *bytes = (uint8_t *)(uintptr_t)room.data, *more = bytes + room.len / 2;
  const struct input *input = &inputs[books->at % input_count];
  size_t len = input->len;
  size_t more_len = common != NULL ? common->len : 0;
  memcpy(bytes, input->bytes, len);
  if (more_len > 0) memcpy(more, common->bytes, more_len);
  if (seed != 0) len = elf_mutator_spoil(bytes, len, seed + books->at);
  if (seed != 0 && more_len > 0 && books->at % 2 == 0)
    more_len = elf_mutator_spoil(more, more_len, ~(seed + books->at));
  books->began_ns = clock_monotonic_ns();
  const struct span supplement = span_of(more, more_len);
  read_file(span_of(bytes, len), &supplement);
  uint64_t took_ns = clock_monotonic_ns() - books->began_ns;
  if (took_ns > SLOW_MS * NS_PER_MS) books->slow++;
  if (took_ns <= books->slowest_ns) return;
  books->slowest_ns = took_ns;
  books->slowest = books->at;
}

_Noreturn static void be_child(const struct input *inputs, size_t input_count, uint64_t seed,
                               uint64_t end) {
  size_t most = 0;
  for (size_t i = 0; i < input_count; i++)
    if (inputs[i].len > most) most = inputs[i].len;
  size_t half = (most + MUTATOR_GROWTH_BYTES + 4095) / 4096 * 4096;
  uint8_t *room = mmap(NULL, 2 * half, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED || sandbox_enter(2 * most) != 0) _exit(2);
  for (; books->at < end; books->at++) read_one(inputs, input_count, seed, span_of(room, 2 * half));
  _exit(0);
}

/* Runs one child up to END. Returns its wait status. */
static int run_child(const struct input *inputs, size_t input_count, uint64_t seed, uint64_t end) {
  int status = 0;
  fflush(stdout);
  pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) be_child(inputs, input_count, seed, end);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

/* A child that is out of CPU time may have spent it on earlier files, too. */
static bool has_spent_it_all(int status) {
  return WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL) &&
         clock_monotonic_ns() - books->began_ns < (CPU_SECONDS_LEAST - 1) * NS_PER_SECOND;
}

/* Deaths of the reader by a mistake of its own, and not by a limit. */
static uint64_t crashes_of(const uint64_t deaths[65]) {
  const int by_mistake[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, 64};
  uint64_t count = 0;
  for (size_t i = 0; i < sizeof by_mistake / sizeof by_mistake[0]; i++)
    count += deaths[by_mistake[i]];
  return count;
}

static int read_all(const struct input *inputs, size_t input_count, uint64_t seed, uint64_t count) {
  uint64_t deaths[65] = {0}, dead = 0, timed_out = 0;
  while (books->at < count) {
    uint64_t end = books->at + FILES_A_CHILD;
    int status = run_child(inputs, input_count, seed, end < count ? end : count);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    if (has_spent_it_all(status)) continue; /* the file again, with all the time */
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) fail("the sandbox");
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 64;
    if (number == SIGXCPU || number == SIGKILL) timed_out++;
    deaths[number]++;
    if (dead++ < DEATHS_SHOWN)
      printf("  file %llu: the reader died (%s)\n", (unsigned long long)books->at,
             number < 64 ? strsignal(number) : "it ended by itself");
    books->at++;
  }
  printf("%llu files: %llu read, %llu refused, %llu deaths (", (unsigned long long)count,
         (unsigned long long)books->good, (unsigned long long)books->refused,
         (unsigned long long)dead);
  for (int i = 0; i < 65; i++)
    if (deaths[i] > 0)
      printf("%s %llu ", i < 64 ? sigabbrev_np(i) : "exit", (unsigned long long)deaths[i]);
  printf("), %llu broken, %llu without a word; slowest %llu ms (file %llu), %llu over a second\n",
         (unsigned long long)books->broken, (unsigned long long)books->wordless,
         (unsigned long long)(books->slowest_ns / NS_PER_MS), (unsigned long long)books->slowest,
         (unsigned long long)books->slow);
  return books->broken + books->wordless + (seed != 0 ? timed_out + crashes_of(deaths) : 0) > 0;
}

static int write_all(const struct input *inputs, size_t input_count, uint64_t seed, uint64_t count,
                     const char *folder) {
  for (uint64_t i = 0; i < count; i++) {
    const struct input *input = &inputs[i % input_count];
    char path[512];
    uint8_t *room = malloc(input->len + MUTATOR_GROWTH_BYTES);
    if (room == NULL) fail("memory");
    memcpy(room, input->bytes, input->len);
    size_t len = elf_mutator_spoil(room, input->len, seed + i);
    snprintf(path, sizeof path, "%s/%llu-%llu", folder, (unsigned long long)seed,
             (unsigned long long)i);
    FILE *file = fopen(path, "w");
    if (file == NULL || fwrite(room, 1, len, file) != len || fclose(file) != 0) fail(path);
    free(room);
  }
  return 0;
}

int main(int argc, char **argv) {
  int first = argc > 1 && strcmp(argv[1], "take") == 0    ? 2
              : argc > 1 && strcmp(argv[1], "write") == 0 ? 5
                                                          : 4;
  if (argc <= first) {
    fprintf(stderr, "usage: hostile_elf read SEED COUNT FILE... | take FILE... | write SEED COUNT "
                    "FOLDER FILE...\n");
    return 2;
  }
  size_t input_count = (size_t)(argc - first);
  struct input *inputs = calloc(input_count, sizeof *inputs);
  books = mmap(NULL, sizeof *books, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (inputs == NULL || books == MAP_FAILED) fail("memory");
  for (size_t i = 0; i < input_count; i++) {
    const char *path = argv[first + (int)i], *end = strrchr(path, '-');
    inputs[i] = load(path);
    if (end != NULL && strcmp(end, "-common") == 0) common = &inputs[i];
  }
  if (first == 2) return read_all(inputs, input_count, 0, input_count);
  uint64_t seed = strtoull(argv[2], NULL, 10), count = strtoull(argv[3], NULL, 10);
  if (first == 5) return write_all(inputs, input_count, seed, count, argv[4]);
  return read_all(inputs, input_count, seed > 0 ? seed : 1, count);
}
