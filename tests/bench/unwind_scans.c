/* SPDX-License-Identifier: Apache-2.0 */
/* How well are functions without call frame information unwound?

     unwind_scans scan|exidx TRUTH-FILE [FILE [WRONG]]

   TRUTH-FILE has call frame information for its code. FILE (the same, possibly stripped of its
   symbols; default TRUTH-FILE itself) is read as if it had none: by scanning prologues alone, or
   with ARM's index first. The result is compared with the truth at every instruction
   (tests/unit/tables/scan_fixture.c). Prints one line:

     instructions | % where frame and return address are right | the same outside of prologues and
     epilogues | in these | in leaf functions | where the tracked registers are right, too | untold
   | wrong

   Wrong results are listed in the file WRONG. */
#include "tests/unit/tables/scan_fixture.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct span map_file(const char *path) {
  struct stat status;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &status) < 0 || status.st_size == 0) {
    fprintf(stderr, "unwind_scans: %s: cannot be read\n", path);
    exit(1);
  }
  void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (bytes == MAP_FAILED) exit(1);
  return span_of(bytes, (size_t)status.st_size);
}

static double share(size_t part, size_t whole) {
  return whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
}

int main(int argc, char **argv) {
  struct scan_counts counts;
  if (argc < 3 || argc > 5) {
    fprintf(stderr, "usage: unwind_scans scan|exidx TRUTH-FILE [FILE [WRONG]]\n");
    return 2;
  }
  struct scan_question question = {.truth = map_file(argv[2]),
                                   .has_index = strcmp(argv[1], "exidx") == 0};
  question.file = argc >= 4 ? map_file(argv[3]) : question.truth;
  if (argc == 5) question.wrong = fopen(argv[4], "w");
  int rc = scan_judge_file(&question, &counts);
  if (rc < 0) {
    fprintf(stderr, "unwind_scans: %s: %s\n", argv[2], strerror(-rc));
    return 1;
  }
  size_t all = counts.instructions;
  printf("%7zu instructions  right %6.2f %%  bodies %6.2f %%  edges %6.2f %%  leaves %6.2f %%"
         "  tracked %6.2f %%  untold %5.2f %%  wrong %5.2f %%\n",
         all, share(counts.right, all), share(counts.right_in_bodies, counts.in_bodies),
         share(counts.right - counts.right_in_bodies, all - counts.in_bodies),
         share(counts.right_in_leaves, counts.in_leaves), share(counts.all_right, all),
         share(counts.untold, all), share(all - counts.right - counts.untold, all));
  if (question.wrong != NULL) fclose(question.wrong);
  return 0;
}
