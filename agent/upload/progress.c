/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include "common/clock.h"
#include "common/path.h"
#include "proto/text.h"

#include <stdio.h>
#include <unistd.h>

enum { BAR_CHARS = 24, NAME_CHARS = 32 };
#define BAR_NS (NS_PER_SECOND / 5)
#define LINE_NS (10 * NS_PER_SECOND)

void progress_init(struct progress *progress, uint32_t file_count, uint64_t bytes) {
  *progress = (struct progress){.is_terminal = isatty(STDERR_FILENO) == 1,
                                .file_count = file_count,
                                .bytes = bytes,
                                .shown_ns = clock_monotonic_ns()};
}

static double mebibytes(uint64_t bytes) {
  return (double)bytes / (1 << 20);
}

static void print_bar(const struct progress *progress, uint64_t done, const char *name) {
  char bar[BAR_CHARS + 1], shown[NAME_CHARS + 1];
  uint64_t share = progress->bytes > 0 ? done * BAR_CHARS / progress->bytes : BAR_CHARS;
  for (unsigned i = 0; i < BAR_CHARS; i++) bar[i] = i < share ? '#' : '.';
  bar[BAR_CHARS] = '\0';
  snprintf(shown, sizeof shown, "%s", path_name(name));
  text_show(shown);
  fprintf(stderr, "\r\033[K[%s] %u/%u files, %.1f of %.1f MiB  %s", bar, progress->file + 1,
          progress->file_count, mebibytes(done), mebibytes(progress->bytes), shown);
}

void progress_show(struct progress *progress, const char *name, uint64_t sent) {
  uint64_t now_ns = clock_monotonic_ns(), done = progress->done_bytes + sent;
  if (now_ns - progress->shown_ns < (progress->is_terminal ? BAR_NS : LINE_NS)) return;
  progress->shown_ns = now_ns;
  if (progress->is_terminal)
    print_bar(progress, done, name);
  else
    fprintf(stderr, "fleetprof: upload: %u of %u files, %.1f of %.1f MiB\n", progress->file,
            progress->file_count, mebibytes(done), mebibytes(progress->bytes));
}

void progress_next(struct progress *progress, uint64_t bytes) {
  progress->file++;
  progress->done_bytes += bytes;
}

void progress_clear(const struct progress *progress) {
  if (progress->is_terminal) fputs("\r\033[K", stderr);
}
