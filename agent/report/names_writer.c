/* SPDX-License-Identifier: Apache-2.0 */
/* Runs after the program, while the files are still those that ran:

      frames of the heaviest module ─▶ their names by its symbols (namer) ─▶ payload ─▶
      file; then the next module

   Only sampled functions are written: a program and its libraries have a hundred thousand
   functions, a profile shows some hundred of them.  If debug information has lines and inlined
   functions, each address is written with these.  So a report after the next build is the same as
   before.

   Unnamed functions are written too, because their bounds make one row out of many addresses.

   The time is bounded by the caller's deadline and the namer's own per file.  A payload is bounded
   by PAYLOAD_BYTES (the rest is put into the next one), all payloads by NAMES_BYTES_MAX.  The
   lightest modules are left out, and the file is valid without them. */
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
  ZSTD_LEVEL = 3,
};

/* The frames of one module: a range of the sorted frames. */
struct name_group {
  uint32_t module, first, count;
  uint64_t weight;
};

/* A frame that is written, and the code that contains it. */
struct place {
  uint64_t start, size;
  const struct profile_frame *frame;
  bool is_special; /* it has a line, or inlined functions */
};

struct writing {
  int fd;
  uint64_t end; /* of the file */
  const struct profile *profile;
  struct namer *namer;
  const struct profile_frame **frames; /* by module and address */
  struct name_group *groups;           /* heaviest first */
  uint32_t group_count;
  struct place *places;        /* of the current module */
  struct function_names names; /* of the open payload */
  struct buf payload, packed;
  uint64_t bytes; /* of all payloads, uncompressed */
  uint64_t deadline_ns;
  struct names_written written;
};

/* ---- selection ---- */

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
  writing->places = calloc(room, sizeof *writing->places);
  if (writing->frames == NULL || writing->groups == NULL || writing->places == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < profile->frame_count; i++) writing->frames[i] = &profile->frames[i];
  qsort(writing->frames, profile->frame_count, sizeof *writing->frames, by_place);
  for (uint32_t i = 0; i < profile->frame_count; i++) add_to_group(writing, i);
  qsort(writing->groups, writing->group_count, sizeof *writing->groups, heaviest_first);
  return 0;
}

/* ---- the places of one module ---- */

static int by_code(const void *left, const void *right) {
  const struct place *a = left, *b = right;
  if (a->start != b->start) return a->start < b->start ? -1 : 1;
  if (a->size != b->size) return a->size > b->size ? -1 : 1;
  return a->frame->address < b->frame->address ? -1 : a->frame->address > b->frame->address;
}

static bool is_same_code(const struct place *a, const struct place *b) {
  return a->start == b->start && a->size == b->size;
}

/* Whether the profile's files have less about PLACE than the names found here, of QUALITY. */
static bool is_new(const struct writing *writing, const struct place *place,
                   enum names_quality quality) {
  const struct profile *profile = writing->profile;
  const struct span id = profile->modules[place->frame->module].id;
  struct kept_match kept;
  if (kept_names_find(&profile->kept_names, id, place->frame->address, &kept) != 0) return true;
  return kept.quality < quality || (place->is_special && !kept.is_whole);
}

/* Finds the functions at FRAME.  Returns whether to write them. */
static bool find_place(const struct writing *writing, const struct profile_frame *frame,
                       struct place *ret) {
  struct symbol_frame chain[SYMBOL_CHAIN_MAX];
  enum names_quality quality;
  int count = best_name_chain(writing->profile, writing->namer, frame, chain, &quality);
  if (count <= 0) return false;
  const struct symbol_frame *root = &chain[count - 1];
  *ret = (struct place){root->start, root->size, frame, count > 1 || root->file != NULL};
  return is_new(writing, ret, quality);
}

/* Returns the number of places of GROUP to write.  They are sorted, and code with only a name
   occurs once. */
static uint32_t find_places(struct writing *writing, const struct name_group *group) {
  struct place *places = writing->places;
  uint32_t found = 0, count = 0;
  for (uint32_t i = 0; i < group->count; i++)
    if (find_place(writing, writing->frames[group->first + i], &places[found])) found++;
  qsort(places, found, sizeof *places, by_code);
  for (uint32_t i = 0; i < found; i++)
    if (places[i].is_special || count == 0 || !is_same_code(&places[count - 1], &places[i]))
      places[count++] = places[i];
  return count;
}

/* ---- the file ---- */

/* Finds the offset of the next entry.  The incomplete entry of a killed writer is cut off. */
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

/* Writes the open payload, unless it is empty. */
static int write_payload(struct writing *writing) {
  if (function_names_bytes(&writing->names) == 0) return 0;
  buf_clear(&writing->payload);
  buf_clear(&writing->packed);
  function_names_end(&writing->names, &writing->payload);
  struct spool_entry entry = {
      .offset = writing->end, .kind = SPOOL_MARK, .raw_len = (uint32_t)writing->payload.len};
  int error = writing->payload.failed ? -ENOMEM : 0;
  if (error == 0) error = compress(buf_span(&writing->payload), ZSTD_LEVEL, &writing->packed);
  if (error == 0) error = spool_segment_write(writing->fd, &entry, buf_span(&writing->packed));
  if (error != 0) return error;
  writing->end += SPOOL_HEADER_BYTES + writing->packed.len;
  writing->bytes += writing->payload.len;
  return 0;
}

static void begin_module(struct writing *writing, uint32_t index) {
  const struct profile_module *module = &writing->profile->modules[index];
  function_names_begin(&writing->names, module->id, namer_quality(writing->namer, index));
}

static void add_place(struct writing *writing, const struct place *place) {
  struct symbol_frame chain[SYMBOL_CHAIN_MAX];
  enum names_quality quality;
  int count = best_name_chain(writing->profile, writing->namer, place->frame, chain, &quality);
  const struct place_name name = {place->frame->address, (uint32_t)count, chain};
  if (count > 0) function_names_add(&writing->names, &name);
}

static bool is_over(const struct writing *writing) {
  return writing->bytes >= NAMES_BYTES_MAX || clock_monotonic_ns() >= writing->deadline_ns;
}

/* Writes COUNT places of the module INDEX, as far as room and time allow. */
static int write_places(struct writing *writing, uint32_t index, uint32_t count) {
  const struct place *places = writing->places;
  int error = 0;
  begin_module(writing, index);
  for (uint32_t i = 0; i < count && error == 0; i++) {
    add_place(writing, &places[i]);
    writing->written.functions += i == 0 || !is_same_code(&places[i - 1], &places[i]);
    if (function_names_bytes(&writing->names) < PAYLOAD_BYTES) continue;
    error = write_payload(writing);
    if (is_over(writing)) break;
    begin_module(writing, index);
  }
  return error;
}

static int write_all(struct writing *writing) {
  int error = 0;
  const char *why;
  for (uint32_t i = 0; i < writing->group_count && error == 0; i++) {
    const struct name_group *group = &writing->groups[i];
    const struct profile_module *module = &writing->profile->modules[group->module];
    if (module->kind != MODULE_ELF) continue;
    if (is_over(writing)) {
      writing->written.late++;
      continue;
    }
    if (namer_load(writing->namer, group->module, module, &why) != 0) continue;
    uint32_t count = find_places(writing, group);
    error = write_places(writing, group->module, count);
    writing->written.modules += count > 0;
  }
  return error != 0 ? error : write_payload(writing);
}

int names_writer_write(int fd, const struct profile *profile, struct namer *namer,
                       uint64_t deadline_ns, struct names_written *ret) {
  struct writing writing = {
      .fd = fd, .profile = profile, .namer = namer, .deadline_ns = deadline_ns};
  int error = find_end(&writing);
  if (error == 0) error = sort_frames(&writing);
  if (error == 0) error = write_all(&writing);
  if (error != 0 && writing.end > 0 && ftruncate(fd, (off_t)writing.end) != 0) error = -errno;
  free(writing.frames);
  free(writing.groups);
  free(writing.places);
  function_names_fini(&writing.names);
  buf_fini(&writing.payload);
  buf_fini(&writing.packed);
  if (error == 0) *ret = writing.written;
  return error;
}
