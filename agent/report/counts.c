/* SPDX-License-Identifier: Apache-2.0 */
/* The oldest form of a profile and the easiest to pipe: one line per address, in the module's own
   address space, as `addr2line -e MODULE` expects it.

      fleetprof report x.fp --format counts --just-pcs | addr2line -f -e tool | paste - - | ...

   Translators accept only addresses, so the columns can be printed separately; line N of one
   belongs to line N of the other. */
#include "counts.h"

#include "common/buf.h"
#include "common/hex_text.h"
#include "common/number_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MODULES_TOLD = 20 };

uint32_t counts_find_module(const struct profile *profile, const char *wanted) {
  uint32_t found = BATCH_NONE;
  if (wanted == NULL) return profile->main_module;
  for (uint32_t i = 0; i < profile->module_count; i++) {
    const struct profile_module *module = &profile->modules[i];
    if (module->kind != MODULE_ELF) continue;
    if (strcmp(module->path, wanted) == 0) return i;
    if (found == BATCH_NONE && strcmp(profile_module_name(module), wanted) == 0) found = i;
  }
  return found;
}

void counts_print_modules(const struct profile *profile, struct buf *ret) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < profile->module_count; i++) {
    if (profile->modules[i].kind != MODULE_ELF) continue;
    if (count++ == MODULES_TOLD) buf_append_string(ret, ", ...");
    if (count > MODULES_TOLD) return;
    buf_printf(ret, "%s%s", count > 1 ? ", " : "", profile_module_name(&profile->modules[i]));
  }
}

static int by_module_and_address(const void *left, const void *right) {
  const struct profile_frame *a = *(const struct profile_frame *const *)left;
  const struct profile_frame *b = *(const struct profile_frame *const *)right;
  if (a->module != b->module) return a->module < b->module ? -1 : 1;
  return a->address < b->address ? -1 : a->address > b->address;
}

/* Returns the sampled frames of MODULE, sorted; the caller frees the array. */
static const struct profile_frame **choose(const struct profile *profile, uint32_t module,
                                           uint32_t *ret_count) {
  const struct profile_frame **frames = calloc(profile->frame_count + 1, sizeof *frames);
  uint32_t count = 0;
  if (frames == NULL) return NULL;
  for (uint32_t i = 0; i < profile->frame_count; i++) {
    const struct profile_frame *frame = &profile->frames[i];
    bool is_wanted = module == COUNTS_ALL || frame->module == module;
    if (is_wanted && frame->count > 0) frames[count++] = frame;
  }
  qsort(frames, count, sizeof *frames, by_module_and_address);
  *ret_count = count;
  return frames;
}

static void print_module(const struct profile_module *module, struct buf *ret) {
  buf_append_string(ret, "# ");
  buf_append_string(ret, module->path);
  buf_append_byte(ret, ' ');
  hex_text_append(module->id, ret);
  buf_append_byte(ret, '\n');
}

static void print_pc(uint64_t address, struct buf *ret) {
  buf_append(ret, "0x", 2);
  number_text_hex(address, ret);
  buf_append_byte(ret, '\n');
}

int counts_print(const struct profile *profile, uint32_t module, struct buf *ret) {
  uint32_t count, last = BATCH_NONE;
  const struct profile_frame **frames = choose(profile, module, &count);
  if (frames == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < count; i++) {
    if (module == COUNTS_ALL && frames[i]->module != last)
      print_module(&profile->modules[frames[i]->module], ret);
    last = frames[i]->module;
    number_text_decimal(frames[i]->count, ret);
    buf_append_byte(ret, ' ');
    print_pc(frames[i]->address, ret);
  }
  free(frames);
  return ret->failed ? -ENOMEM : 0;
}

int counts_print_columns(const struct profile *profile, uint32_t module, struct buf *ret_counts,
                         struct buf *ret_pcs) {
  uint32_t count;
  const struct profile_frame **frames = choose(profile, module, &count);
  if (frames == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < count; i++) {
    if (ret_counts) number_text_decimal(frames[i]->count, ret_counts);
    if (ret_counts) buf_append_byte(ret_counts, '\n');
    if (ret_pcs) print_pc(frames[i]->address, ret_pcs);
  }
  free(frames);
  bool has_failed = (ret_counts && ret_counts->failed) || (ret_pcs && ret_pcs->failed);
  return has_failed ? -ENOMEM : 0;
}
