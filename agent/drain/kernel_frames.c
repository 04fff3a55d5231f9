/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves kernel addresses. The kernel's call chain is its own, unwound in the kernel, so it is
   trusted: every address but the first is a return address.

   Modules may be loaded at any time without notice. If an address is in no known piece, the layout
   is read again, at most once a minute. Reading may take the daemon 40 ms (a hundred thousand
   symbols, if kernel_layout.c has no shorter way). Some code (BPF) never has a place in it. */
#include "kernel_frames.h"

#include "common/clock.h"
#include "common/log.h"

#include <stdlib.h>

#define READ_INTERVAL_NS (60 * NS_PER_SECOND)

static void read_again(struct kernel_frames *frames) {
  kernel_frames_close(frames);
  frames->read_ns = clock_monotonic_ns();
  int error = kernel_layout_read("", &frames->layout);
  if (!error) frames->rows = calloc(frames->layout.count, sizeof *frames->rows);
  if (frames->rows == NULL) frames->layout.count = 0;
  for (uint32_t i = 0; i < frames->layout.count; i++) {
    const struct kernel_piece *piece = &frames->layout.pieces[i];
    frames->rows[i] =
        modules_add_known(frames->modules, piece->name, span_of(piece->id, piece->id_bytes));
  }
}

void kernel_frames_open(struct kernel_frames *frames, struct modules *modules) {
  if (frames->read_ns != 0) return;
  frames->modules = modules;
  read_again(frames);
  if (frames->layout.count == 0)
    log_warn("kernel: its functions have no names: %s", frames->layout.why);
}

void kernel_frames_close(struct kernel_frames *frames) {
  kernel_layout_fini(&frames->layout);
  free(frames->rows);
  frames->rows = NULL;
}

static const struct kernel_piece *find(struct kernel_frames *frames, uint64_t address) {
  const struct kernel_piece *piece = kernel_layout_find(&frames->layout, address);
  bool is_due = frames->read_ns != 0 && frames->layout.count > 0 &&
                clock_monotonic_ns() - frames->read_ns >= READ_INTERVAL_NS;
  if (piece != NULL || !is_due) return piece;
  read_again(frames);
  return kernel_layout_find(&frames->layout, address);
}

uint32_t kernel_frames_resolve(struct kernel_frames *frames, const uint64_t *addresses,
                               uint32_t count, struct code_frame *ret) {
  uint32_t depth = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t address = i == 0 ? addresses[i] : addresses[i] - 1;
    struct code_frame frame = {.module = MODULE_KERNEL};
    const struct kernel_piece *piece = find(frames, address);
    if (piece != NULL) {
      frame.module = frames->rows[piece - frames->layout.pieces];
      frame.address = frame.module == MODULE_KERNEL ? 0 : address - piece->base;
    }
    bool is_same =
        depth > 0 && frame.module == MODULE_KERNEL && ret[depth - 1].module == MODULE_KERNEL;
    if (!is_same) ret[depth++] = frame;
  }
  return depth;
}

void kernel_frames_mark(const struct kernel_frames *frames) {
  for (uint32_t i = 0; i < frames->layout.count; i++)
    modules_mark(frames->modules, frames->rows[i]);
}
