/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a symbol index as the worker does, or asks one.

     symbol_index make FILE INDEX [symbols]   seconds, peak memory, what went into it
     symbol_index chains INDEX [BASE] <ADDRESSES   the functions at each: name, file:line, declared
     symbol_index first FILE INDEX [BASE] <ADDRESSES   names from the symbol table of a new file
     symbol_index speed INDEX [BASE] <ADDRESSES   lookups of whole chains a second, as given and
   sorted symbol_index sizes INDEX                 bytes of each table symbol_index demangle -
   <NAMES           names as an index has them

   Addresses are hexadecimal, one a line; a kernel's are less BASE. */
#include "common/buf.h"
#include "common/clock.h"
#include "symbol/demangle.h"
#include "symbol/index_builder.h"
#include "symbol/index_file.h"
#include "symbol/name_text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "symbol_index: %s\n", what);
  exit(1);
}

static double seconds_since(uint64_t start_ns) {
  return (double)(clock_monotonic_ns() - start_ns) / 1e9;
}

static int make(const char *path, const char *index_path, enum index_depth depth) {
  struct stat status;
  struct buf bytes = {0};
  struct index_summary summary;
  struct rusage usage;
  char why[256];
  uint64_t start_ns = clock_monotonic_ns();
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &status) != 0) fail("the file cannot be read");
  void *map = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  if (map == MAP_FAILED) fail("the file cannot be mapped");
  if (index_builder_build(span_of(map, (size_t)status.st_size), depth, &bytes, &summary, why,
                          sizeof why) != 0)
    fail(why);
  double took = seconds_since(start_ns);
  FILE *out = fopen(index_path, "wb");
  if (out == NULL || fwrite(bytes.data, 1, bytes.len, out) != bytes.len) fail("index not written");
  fclose(out);
  getrusage(RUSAGE_SELF, &usage);
  printf("%s: %.3f s, peak %ld MiB, file %.2f MB, index %.3f MB (%.1f %%)%s%s\n", path, took,
         usage.ru_maxrss / 1024, (double)status.st_size / 1e6, (double)bytes.len / 1e6,
         100.0 * (double)bytes.len / (double)status.st_size, why[0] == '\0' ? "" : ": ", why);
  buf_fini(&bytes);
  return 0;
}

/* CPU time of this process: the machine has other load. */
static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t *read_addresses(size_t *ret_count) {
  uint64_t *addresses = NULL, address;
  size_t count = 0, cap = 0;
  while (scanf("%" SCNx64, &address) == 1) {
    if (count == cap) addresses = realloc(addresses, (cap = cap * 2 + 1024) * sizeof *addresses);
    if (addresses == NULL) fail("out of memory");
    addresses[count++] = address;
  }
  *ret_count = count;
  return addresses;
}

static void print_chains(const struct symbol_index *index, uint64_t base) {
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  size_t count;
  uint64_t *addresses = read_addresses(&count);
  for (size_t i = 0; i < count; i++) {
    int depth = symbol_index_chain(index, addresses[i] - base, frames);
    printf("0x%" PRIx64 "\n", addresses[i]);
    for (int at = 0; at < depth; at++)
      printf("%s\t%s:%u\t%s:%u\n", frames[at].name, frames[at].file == NULL ? "" : frames[at].file,
             frames[at].line, frames[at].decl_file == NULL ? "" : frames[at].decl_file,
             frames[at].decl_line);
    printf("\n");
  }
  free(addresses);
}

static int compare_addresses(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return a < b ? -1 : a > b;
}

enum { ROUNDS = 5 };

/* Lookups a second of CPU time, the best of some rounds. */
static double rate(const struct symbol_index *index, const uint64_t *addresses, size_t count,
                   bool by_cursor, double *ret_depth) {
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  double best = 0;
  for (int round = 0; round < ROUNDS; round++) {
    struct symbol_cursor cursor;
    uint64_t found = 0;
    double start = cpu_seconds();
    symbol_cursor_init(&cursor, index);
    for (size_t i = 0; i < count; i++) {
      int depth = by_cursor ? symbol_cursor_chain(&cursor, addresses[i], frames)
                            : symbol_index_chain(index, addresses[i], frames);
      if (depth > 0) found += (uint64_t)depth;
    }
    double now = (double)count / (cpu_seconds() - start);
    if (now > best) best = now;
    *ret_depth = (double)found / (double)count;
  }
  return best;
}

static void measure(const struct symbol_index *index, uint64_t base) {
  size_t count;
  double depth;
  uint64_t *addresses = read_addresses(&count);
  for (size_t i = 0; i < count; i++) addresses[i] -= base;
  double random = rate(index, addresses, count, false, &depth);
  qsort(addresses, count, sizeof *addresses, compare_addresses);
  double sorted = rate(index, addresses, count, true, &depth);
  printf("%.2f M/s random, %.2f M/s sorted, %.2f functions an address\n", random / 1e6,
         sorted / 1e6, depth);
  free(addresses);
}

static void print_sizes(const struct symbol_index *index) {
  printf("rows %.1f kB, blocks %.1f kB (%u), nodes %.1f kB, functions %.1f kB, strings %.1f kB (%u "
         "blocks)\n",
         (double)index->rows.len / 1e3, index->block_count * sizeof *index->blocks / 1e3,
         index->block_count, (double)index->nodes.len / 1e3,
         index->function_count * sizeof *index->functions / 1e3,
         (double)index->texts.packed.len / 1e3, index->texts.count);
}

static int print_readable(void) {
  char *line = NULL;
  size_t cap = 0;
  for (ssize_t len; (len = getline(&line, &cap, stdin)) > 0;) {
    struct buf readable = {0}, clean = {0};
    struct span raw = span_of(line, (size_t)len - 1);
    struct span name = demangle(raw, &readable) ? buf_span(&readable) : raw;
    name_text_append(name, INDEX_NAME_BYTES_MAX, &clean);
    puts((const char *)clean.data);
    buf_fini(&readable);
    buf_fini(&clean);
  }
  free(line);
  return 0;
}

int main(int argc, char **argv) {
  struct index_file file;
  if (argc < 3) fail("make FILE INDEX [symbols] | chains INDEX [BASE] | speed INDEX | sizes INDEX");
  if (strcmp(argv[1], "make") == 0 && argc > 3)
    return make(argv[2], argv[3], argc > 4 ? INDEX_SYMBOLS_ONLY : INDEX_ALL);
  bool is_first = strcmp(argv[1], "first") == 0 && argc > 3;
  if (strcmp(argv[1], "demangle") == 0) return print_readable();
  if (is_first) make(argv[2], argv[3], INDEX_SYMBOLS_ONLY);
  if (is_first) argv++, argc--;
  if (index_file_open(argv[2], &file) != 0) fail("the index cannot be opened");
  if (symbol_index_verify(&file.index) != 0) fail("the index is not sound");
  uint64_t base = argc > 3 ? strtoull(argv[3], NULL, 16) : 0;
  if (is_first || strcmp(argv[1], "chains") == 0) print_chains(&file.index, base);
  if (strcmp(argv[1], "speed") == 0) measure(&file.index, base);
  if (strcmp(argv[1], "sizes") == 0) print_sizes(&file.index);
  index_file_close(&file);
  return 0;
}
