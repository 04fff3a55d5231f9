/* SPDX-License-Identifier: Apache-2.0 */
/* After the run, while the files still are what ran:

     frames of the heaviest module ─▶ its symbols (namer) ─▶ functions, each once ─▶
     payload ─▶ file; then the next module

   Only what was sampled is kept: a program and its libraries have a hundred thousand functions, a
   profile shows some hundred of them.  Functions that have no name are kept too, for their bounds
   make one row of what would be a row an address.

   Everything is bounded: the time by the caller's deadline and the namer's own for a file, a
   payload by PAYLOAD_BYTES (what does not fit one goes into the next), all of them by
   NAMES_BYTES_MAX.  What is left out is the lightest, and the file is good without it. */
#include "names_writer.h"
#include "best_name.h"
#include "namer.h"

#include "common/buf.h"
#include "common/clock.h"
#include "proto/compress.h"
#include "proto/spool_segment.h"
#include "symbol/symbol_index.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  PAYLOAD_BYTES = 256 << 10,
  NAMES_BYTES_MAX = 32 << 20,
  FUNCTION_BYTES = 24, /* of the numbers of one, at most nearly */
  ZSTD_LEVEL = 3,
};

/* The frames of one module: a run of the sorted ones. */
struct name_group {
  uint32_t module, first, count;
  uint64_t weight;
};

struct writing {
  int fd;
  uint64_t end; /* of the file */
  const struct profile *profile;
  struct namer *namer;
  const struct profile_frame **frames; /* by module and address */
  struct name_group *groups;           /* heaviest first */
  uint32_t group_count;
  struct function_name *functions; /* of the module in hand */
  struct buf payload, packed;
  uint64_t bytes; /* of all payloads, unpacked */
};

/* ---- what to name ---- */

static int by_place(const void *left, const void *right) {
  const struct profile_frame *a = *(const struct profile_frame *const *)left;
  const struct profile_frame *b = *(const struct profile_frame *const *)right;
  if (a->module != b->module) return a->module < b->module ? -1 : 1;
  return a->address < b->address ? -1 : a->address > b->address;
}

static int heaviest_first(const void *left, const void *right) {
  const struct name_group *a = left, *b = right;
  if (a->weight != b->weight) return a->weight > b->weight ? -1 : 1;
  return a->module < b->module ? -1 : a->module > b->module;
}

static void add_to_group(struct writing *writing, uint32_t at) {
  const struct profile_frame *frame = writing->frames[at];
  struct name_group *last = &writing->groups[writing->group_count];
  if (writing->group_count == 0 || last[-1].module != frame->module) {
    *last = (struct name_group){.module = frame->module, .first = at};
    writing->group_count++;
  } else {
    last--;
  }
  last->count++;
  last->weight += frame->weight;
}

static int sort_frames(struct writing *writing) {
  const struct profile *profile = writing->profile;
  size_t room = (size_t)profile->frame_count + 1;
  writing->frames = calloc(room, sizeof *writing->frames);
  writing->groups = calloc((size_t)profile->module_count + 1, sizeof *writing->groups);
  writing->functions = calloc(room, sizeof *writing->functions);
  if (writing->frames == NULL || writing->groups == NULL || writing->functions == NULL)
    return -ENOMEM;
  for (uint32_t i = 0; i < profile->frame_count; i++) writing->frames[i] = &profile->frames[i];
  qsort(writing->frames, profile->frame_count, sizeof *writing->frames, by_place);
  for (uint32_t i = 0; i < profile->frame_count; i++) add_to_group(writing, i);
  qsort(writing->groups, writing->group_count, sizeof *writing->groups, heaviest_first);
  return 0;
}

/* ---- the functions of one module ---- */

static int by_start(const void *left, const void *right) {
  const struct function_name *a = left, *b = right;
  if (a->start != b->start) return a->start < b->start ? -1 : 1;
  return a->size > b->size ? -1 : a->size < b->size;
}

/* Whether the files of the profile would name FRAME otherwise, or not at all. */
static bool is_new(const struct writing *writing, const struct profile_frame *frame,
                   const struct symbol_match *match) {
  const struct profile_module *module = &writing->profile->modules[frame->module];
  struct symbol_match kept;
  enum names_quality quality;
  if (kept_names_find(&writing->profile->kept_names, module->id, frame->address, &kept, &quality))
    return true;
  return kept.start != match->start || strcmp(kept.name, match->name) != 0;
}

/* Returns how many functions GROUP has that are worth being written: they are then sorted, each
   once. */
static uint32_t find_functions(struct writing *writing, const struct name_group *group) {
  struct function_name *functions = writing->functions;
  uint32_t found = 0, count = 0;
  for (uint32_t i = 0; i < group->count; i++) {
    const struct profile_frame *frame = writing->frames[group->first + i];
    struct symbol_match match;
    if (best_name_find(writing->profile, writing->namer, frame, &match) != 0) continue;
    if (!is_new(writing, frame, &match)) continue;
    functions[found++] = (struct function_name){match.start, match.size, match.name};
  }
  qsort(functions, found, sizeof *functions, by_start);
  for (uint32_t i = 0; i < found; i++)
    if (count == 0 || by_start(&functions[count - 1], &functions[i]) != 0)
      functions[count++] = functions[i];
  return count;
}

/* ---- the file ---- */

/* Where the next entry goes.  What a dying writer left unfinished is cut off. */
static int find_end(struct writing *writing) {
  struct stat found;
  struct spool_entry entry;
  uint32_t magic = 0;
  int error;
  if (fstat(writing->fd, &found) != 0) return -errno;
  if (pread(writing->fd, &magic, sizeof magic, 0) != (ssize_t)sizeof magic ||
      le32toh(magic) != SPOOL_MAGIC)
    return -EBADMSG;
  struct spool_reader reader = {.fd = writing->fd, .end = (uint64_t)found.st_size};
  while ((error = spool_segment_next(&reader, &entry)) == 0) continue;
  if (error != -ENOENT) return error;
  writing->end = reader.end - reader.torn_bytes;
  if (reader.torn_bytes > 0 && ftruncate(writing->fd, (off_t)writing->end) != 0) return -errno;
  return 0;
}

/* Writes what is in the payload, if anything. */
static int write_payload(struct writing *writing) {
  if (writing->payload.len == 0) return 0;
  struct spool_entry entry = {
      .offset = writing->end, .kind = SPOOL_MARK, .raw_len = (uint32_t)writing->payload.len};
  buf_clear(&writing->packed);
  int error = writing->payload.failed ? -ENOMEM : 0;
  if (error == 0) error = compress(buf_span(&writing->payload), ZSTD_LEVEL, &writing->packed);
  if (error == 0) error = spool_segment_write(writing->fd, &entry, buf_span(&writing->packed));
  if (error != 0) return error;
  writing->end += SPOOL_HEADER_BYTES + writing->packed.len;
  writing->bytes += writing->payload.len;
  buf_clear(&writing->payload);
  return 0;
}

/* How many of the COUNT functions at AT go into the payload that is open: one at least. */
static uint32_t how_many_fit(const struct writing *writing, const struct function_name *at,
                             uint32_t count) {
  uint64_t bytes = writing->payload.len;
  uint32_t fit = 0;
  for (; fit < count && (fit == 0 || bytes < PAYLOAD_BYTES); fit++)
    bytes += FUNCTION_BYTES + strlen(at[fit].name);
  return fit;
}

static int write_functions(struct writing *writing, uint32_t module, uint32_t count) {
  bool is_exported_only = namer_is_exported_only(writing->namer, module);
  struct module_names part = {.id = writing->profile->modules[module].id,
                              .quality = is_exported_only ? NAMES_EXPORTED : NAMES_ALL};
  int error = 0;
  for (uint32_t done = 0; done < count && error == 0; done += part.count) {
    if (writing->payload.len == 0) function_names_begin(&writing->payload);
    part.functions = writing->functions + done;
    part.count = how_many_fit(writing, part.functions, count - done);
    function_names_append(&part, &writing->payload);
    if (writing->payload.len >= PAYLOAD_BYTES) error = write_payload(writing);
  }
  return error;
}

static int write_all(struct writing *writing, uint64_t deadline_ns, struct names_written *ret) {
  int error = 0;
  const char *why;
  for (uint32_t i = 0; i < writing->group_count && error == 0; i++) {
    const struct name_group *group = &writing->groups[i];
    const struct profile_module *module = &writing->profile->modules[group->module];
    if (module->kind != MODULE_ELF) continue;
    if (writing->bytes >= NAMES_BYTES_MAX || clock_monotonic_ns() >= deadline_ns) {
      ret->late++;
      continue;
    }
    if (namer_load(writing->namer, group->module, module, &why) != 0) continue;
    uint32_t count = find_functions(writing, group);
    error = write_functions(writing, group->module, count);
    ret->functions += count;
    ret->modules += count > 0;
  }
  return error != 0 ? error : write_payload(writing);
}

int names_writer_write(int fd, const struct profile *profile, struct namer *namer,
                       uint64_t deadline_ns, struct names_written *ret) {
  struct writing writing = {.fd = fd, .profile = profile, .namer = namer};
  struct names_written written = {.functions = 0};
  int error = find_end(&writing);
  if (error == 0) error = sort_frames(&writing);
  if (error == 0) error = write_all(&writing, deadline_ns, &written);
  if (error != 0 && writing.end > 0 && ftruncate(fd, (off_t)writing.end) != 0) error = -errno;
  free(writing.frames);
  free(writing.groups);
  free(writing.functions);
  buf_fini(&writing.payload);
  buf_fini(&writing.packed);
  if (error == 0) *ret = written;
  return error;
}
