/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the unwind table of an ELF file, of any CPU, and prints it or its cost.

     unwind_table cost FILE [DEBUG-FILE]   one line: file, its bytes, the table's bytes and rows,
                                           bytes a row, milliseconds, peak of memory in KiB
     unwind_table rows FILE [DEBUG-FILE]   the address of each row
     unwind_table write FILE [DEBUG-FILE]  the table itself
     unwind_table at FILE [DEBUG-FILE]     for each address on its input the result of a lookup: the
                                           address, CFA, return address and the two tracked
   registers

   Milliseconds are the median of five. The peak is the growth of the process while it made the
   first table, without the file's own pages, which belong to the page cache. */
#include "tables/table_make.h"
#include "tests/unit/tables/machines.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 5 };

static struct span map_file(const char *path) {
  struct stat status;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &status) < 0 || status.st_size == 0) {
    fprintf(stderr, "unwind_table: %s: cannot be read\n", path);
    exit(1);
  }
  void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
  close(fd);
  if (bytes == MAP_FAILED) exit(1);
  return span_of(bytes, (size_t)status.st_size);
}

static void make(const struct table_input *input, struct buf *ret, struct table_report *report) {
  int rc = table_make(input, ret, report);
  if (rc == 0) return;
  fprintf(stderr, "unwind_table: %s\n", strerror(-rc));
  exit(1);
}

/* ---- contents ---- */

static void print_offset(const char *base, int offset, int shift) {
  if (offset == UNWIND_SAME)
    printf(" u");
  else
    printf(" %s%+d", base, offset + shift);
}

static void print_rule(const struct unwind_rule *rule) {
  static const char *const names[UNWIND_CFA_COUNT] = {[UNWIND_CFA_NONE] = "none",
                                                      [UNWIND_CFA_UNTOLD] = "untold",
                                                      [UNWIND_CFA_END] = "end",
                                                      [UNWIND_CFA_SIGNAL] = "signal",
                                                      [UNWIND_CFA_SP] = "sp",
                                                      [UNWIND_CFA_TRACKED] = "t0",
                                                      [UNWIND_CFA_TRACKED_2] = "t1",
                                                      [UNWIND_CFA_SP_WORD] = "*sp",
                                                      [UNWIND_CFA_TRACKED_WORD] = "*t0",
                                                      [UNWIND_CFA_PLT] = "plt"};
  printf(" %s", names[rule->cfa]);
  if (rule->cfa < UNWIND_CFA_SP) return;
  printf("%+d", rule->offset);
  if (rule->addend != 0) printf("%+d", rule->addend);
  /* A place relative to a frame's bottom is printed relative to the CFA. */
  int shift = rule->flags & UNWIND_AT_BASE ? -rule->offset : 0;
  print_offset("c", rule->return_address, shift);
  for (unsigned i = 0; i < UNWIND_TRACKED; i++)
    print_offset(rule->flags & UNWIND_AT_TRACKED ? "t0" : "c", rule->saved[i], shift);
}

static void print_rows(const struct unwind_table *table) {
  const uint32_t *pages = (const void *)(table + 1);
  const struct unwind_row *rows = (const void *)(pages + table->page_count + 1);
  for (uint64_t page = 0; page < table->page_count; page++)
    for (uint32_t i = pages[page]; i < pages[page + 1]; i++)
      printf("%llx\n",
             (unsigned long long)(table->base + (page << UNWIND_PAGE_BITS) + rows[i].low));
}

static void answer(const struct unwind_table *table) {
  const struct unwind_rule none = {.cfa = UNWIND_CFA_NONE};
  char line[64];
  while (fgets(line, sizeof line, stdin) != NULL) {
    uint64_t address = strtoull(line, NULL, 16);
    const struct unwind_rule *rule = unwind_table_find(table, address);
    printf("%llx", (unsigned long long)address);
    print_rule(rule != NULL ? rule : &none);
    printf("\n");
  }
}

/* ---- cost ---- */

static long peak_kib(void) {
  char line[256];
  long peak = 0, file = 0;
  FILE *status = fopen("/proc/self/status", "r");
  if (status == NULL) return 0;
  while (fgets(line, sizeof line, status) != NULL) {
    if (strncmp(line, "VmHWM:", 6) == 0) peak = strtol(line + 6, NULL, 10);
    if (strncmp(line, "RssFile:", 8) == 0) file = strtol(line + 8, NULL, 10);
  }
  fclose(status);
  return peak - file;
}

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int by_size(const void *a, const void *b) {
  double one = *(const double *)a, other = *(const double *)b;
  return (one > other) - (one < other);
}

static void cost(const struct table_input *input, const char *path) {
  double took[RUNS];
  long before = peak_kib(), peak = 0;
  struct unwind_table table = {0};
  struct table_report report;
  for (unsigned i = 0; i < RUNS; i++) {
    struct buf bytes = {0};
    double start = now_ms();
    make(input, &bytes, &report);
    took[i] = now_ms() - start;
    if (i == 0) peak = peak_kib() - before;
    memcpy(&table, bytes.data, sizeof table);
    buf_fini(&bytes);
  }
  qsort(took, RUNS, sizeof took[0], by_size);
  printf("%s %zu %u %u %.2f %.1f %ld\n", path, input->file.len, table.total_bytes, table.row_count,
         (double)table.total_bytes / table.row_count, took[RUNS / 2], peak);
  fprintf(stderr,
          "%s: %u rules, untold rows %u, sources %u, functions %u, left %u, refused %u (%s); "
          "untold places: register %u, expression %u, return %u, saved %u, far %u\n",
          path, table.rule_count, table.untold_rows, table.sources, report.functions,
          report.functions_left, report.functions_refused, report.why ? report.why : "-",
          report.untold[0], report.untold[1], report.untold[2], report.untold[3], report.untold[4]);
}

int main(int argc, char **argv) {
  if (argc < 3 || argc > 4) {
    fprintf(stderr, "usage: unwind_table cost|rows|at|write FILE [DEBUG-FILE]\n");
    return 2;
  }
  struct table_input input = {.file = map_file(argv[2])};
  uint16_t machine = 0;
  if (argc == 4) input.debug = map_file(argv[3]);
  if (input.file.len > 20) memcpy(&machine, input.file.data + offsetof(Elf64_Ehdr, e_machine), 2);
  input.arch = machine_of(machine);
  if (input.arch == NULL) {
    fprintf(stderr, "unwind_table: %s: not of a CPU that we know\n", argv[2]);
    return 1;
  }
  if (strcmp(argv[1], "cost") == 0) {
    cost(&input, argv[2]);
    return 0;
  }
  struct buf bytes = {0};
  struct table_report report;
  make(&input, &bytes, &report);
  if (strcmp(argv[1], "write") == 0)
    fwrite(bytes.data, 1, bytes.len, stdout);
  else if (strcmp(argv[1], "rows") == 0)
    print_rows((const void *)bytes.data);
  else
    answer((const void *)bytes.data);
  buf_fini(&bytes);
  return 0;
}
