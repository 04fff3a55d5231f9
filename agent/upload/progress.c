/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include "common/clock.h"
#include "common/path.h"
#include "common/text.h"

#include <stdio.h>
#include <unistd.h>

enum { NAME_CHARS = 32, TEXT_BYTES = 160 };
#define LINE_NS (10 * NS_PER_SECOND)

void progress_init(struct progress *progress, uint32_t file_count, uint64_t bytes) {
  *progress =
      (struct progress){.file_count = file_count, .bytes = bytes, .told_ns = clock_monotonic_ns()};
  progress_line_init(&progress->line, true);
}

static double mebibytes(uint64_t bytes) {
  return (double)bytes / (1 << 20);
}

static void print_bar(struct progress *progress, uint64_t done, const char *name) {
  char text[TEXT_BYTES], shown[NAME_CHARS + 1];
  snprintf(shown, sizeof shown, "%s", path_name(name));
  text_show(shown);
  snprintf(text, sizeof text, "%u/%u files, %.1f of %.1f MiB  %s", progress->file + 1,
           progress->file_count, mebibytes(done), mebibytes(progress->bytes), shown);
  progress_line_bar(&progress->line, done, progress->bytes, text);
}

void progress_show(struct progress *progress, const char *name, uint64_t sent) {
  uint64_t now_ns = clock_monotonic_ns(), done = progress->done_bytes + sent;
  if (progress_line_is_due(&progress->line)) print_bar(progress, done, name);
  if (isatty(STDERR_FILENO) == 1 || now_ns - progress->told_ns < LINE_NS) return;
  progress->told_ns = now_ns;
  fprintf(stderr, "fleetprof: upload: %u of %u files, %.1f of %.1f MiB\n", progress->file,
          progress->file_count, mebibytes(done), mebibytes(progress->bytes));
}

void progress_next(struct progress *progress, uint64_t bytes) {
  progress->file++;
  progress->done_bytes += bytes;
}

void progress_clear(struct progress *progress) {
  progress_line_clear(&progress->line);
}
