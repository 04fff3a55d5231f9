/* SPDX-License-Identifier: Apache-2.0 */
/* The file's header has the positions of attributes and records. Records of several CPUs are stored
   in the order of their rings, so they are sorted by time. Records that perf synthesized for
   existing mappings have time 0.

   Supports only one kind of event, with the fields of `--call-graph dwarf`. */
#include "perf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OWN_RECORDS_FIRST = 64 }; /* from here on record types are perf's, not the kernel's */

static const char magic[8] = "PERFILE2";

struct section {
  uint64_t offset, size;
};

struct file_header {
  char magic[8];
  uint64_t size, attribute_size;
  struct section attributes, records;
};

/* The last field is behind those that are read. */
static const uint64_t understood = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                   PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
                                   PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
                                   PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
                                   PERF_SAMPLE_STACK_USER | PERF_SAMPLE_DATA_SRC;

static bool take_u64(struct span *from, uint64_t *ret) {
  struct span bytes;
  if (!span_take(from, sizeof *ret, &bytes)) return false;
  memcpy(ret, bytes.data, sizeof *ret);
  return true;
}

static bool cut_section(struct span bytes, struct section section, struct span *ret) {
  if (section.offset > bytes.len || section.size > bytes.len - section.offset) return false;
  *ret = span_of(bytes.data + section.offset, (size_t)section.size);
  return true;
}

static struct perf_event_header header_of(struct span record) {
  struct perf_event_header header;
  memcpy(&header, record.data, sizeof header);
  return header;
}

/* The time of a record: of a sample among its first fields, of others among its last
   (sample_id_all: tid, time, id, stream, cpu, identifier, those of them that samples have). */
static uint64_t time_of(const struct perf_file *file, struct span record) {
  static const uint64_t after[] = {PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,
                                   PERF_SAMPLE_IDENTIFIER};
  struct perf_event_header header = header_of(record);
  struct recorded_sample sample;
  if (header.type == PERF_RECORD_SAMPLE)
    return perf_file_sample(file, record, &sample) == 0 ? sample.time : 0;
  size_t behind = 8;
  for (unsigned i = 0; i < sizeof after / sizeof *after; i++)
    if (file->sample_type & after[i]) behind += 8;
  uint64_t time = 0;
  if (record.len >= sizeof header + behind)
    memcpy(&time, record.data + record.len - behind, sizeof time);
  return time;
}

static int compare(const void *a, const void *b) {
  const struct perf_entry *x = a, *y = b;
  if (x->time != y->time) return x->time < y->time ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

static int index_records(struct perf_file *file, struct span records) {
  size_t room = 0;
  struct span record;
  while (records.len >= sizeof(struct perf_event_header)) {
    struct perf_event_header header = header_of(records);
    if (header.size < sizeof header || !span_take(&records, header.size, &record)) return -EBADMSG;
    if (header.type >= OWN_RECORDS_FIRST) continue;
    if (file->count == room) {
      room = room ? 2 * room : 4096;
      struct perf_entry *more = realloc(file->entries, room * sizeof *more);
      if (more == NULL) return -ENOMEM;
      file->entries = more;
    }
    file->entries[file->count] = (struct perf_entry){time_of(file, record), record, file->count};
    file->count++;
  }
  qsort(file->entries, file->count, sizeof *file->entries, compare);
  return 0;
}

static int map_file(const char *path, struct span *ret) {
  struct stat stat;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  void *map = MAP_FAILED;
  if (fstat(fd, &stat) == 0) map = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  int error = map == MAP_FAILED ? -errno : 0;
  close(fd);
  if (error == 0) *ret = span_of(map, (size_t)stat.st_size);
  return error;
}

static int fail(const char *what, const char **why) {
  *why = what;
  return -EBADMSG;
}

int perf_file_open(const char *path, struct perf_file *ret, const char **why) {
  struct file_header header;
  struct perf_event_attr event;
  struct span attributes, records;
  *ret = (struct perf_file){0};
  *why = "it cannot be read";
  int error = map_file(path, &ret->bytes);
  if (error != 0) return error;
  if (ret->bytes.len < sizeof header) return fail("it is too short", why);
  memcpy(&header, ret->bytes.data, sizeof header);
  if (memcmp(header.magic, magic, sizeof magic) != 0) return fail("it is no perf.data", why);
  if (!cut_section(ret->bytes, header.attributes, &attributes) ||
      !cut_section(ret->bytes, header.records, &records))
    return fail("it is cut off", why);
  if (header.attribute_size < sizeof(struct section) + PERF_ATTR_SIZE_VER5 ||
      attributes.len != header.attribute_size)
    return fail("it has more than one kind of event", why);
  memcpy(&event, attributes.data, PERF_ATTR_SIZE_VER5);
  ret->sample_type = event.sample_type;
  ret->register_mask = event.sample_regs_user;
  if ((event.sample_type & ~understood) || !(event.sample_type & PERF_SAMPLE_STACK_USER) ||
      !(event.sample_type & PERF_SAMPLE_TIME) || !event.sample_id_all)
    return fail("its samples have other fields than registers and a stack", why);
  *why = "a record's size cannot be";
  return index_records(ret, records);
}

/* The fields from the first to the period. */
static bool take_fixed(uint64_t type, struct span *rest, struct recorded_sample *ret) {
  static const uint64_t order[] = {PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,   PERF_SAMPLE_TID,
                                   PERF_SAMPLE_TIME,       PERF_SAMPLE_ADDR, PERF_SAMPLE_ID,
                                   PERF_SAMPLE_STREAM_ID,  PERF_SAMPLE_CPU,  PERF_SAMPLE_PERIOD};
  for (unsigned i = 0; i < sizeof order / sizeof *order; i++) {
    uint64_t value;
    if (!(type & order[i])) continue;
    if (!take_u64(rest, &value)) return false;
    if (order[i] == PERF_SAMPLE_TIME) ret->time = value;
    if (order[i] == PERF_SAMPLE_TID) {
      ret->pid = (int32_t)(uint32_t)value;
      ret->tid = (int32_t)(value >> 32);
    }
  }
  return true;
}

int perf_file_sample(const struct perf_file *file, struct span record,
                     struct recorded_sample *ret) {
  struct span rest = span_of(record.data + sizeof(struct perf_event_header),
                             record.len - sizeof(struct perf_event_header));
  uint64_t count, abi, size, used;
  *ret = (struct recorded_sample){0};
  if (!take_fixed(file->sample_type, &rest, ret)) return -EBADMSG;
  if (file->sample_type & PERF_SAMPLE_CALLCHAIN)
    if (!take_u64(&rest, &count) || count > rest.len / 8 ||
        !span_take(&rest, count * 8, &ret->chain))
      return -EBADMSG;
  if (!take_u64(&rest, &abi)) return -EBADMSG;
  size_t registers = (size_t)__builtin_popcountll(file->register_mask) * 8;
  if (abi != PERF_SAMPLE_REGS_ABI_NONE && !span_take(&rest, registers, &ret->registers))
    return -EBADMSG;
  if (!take_u64(&rest, &size)) return -EBADMSG;
  if (size == 0) return 0;
  if (!span_take(&rest, (size_t)size, &ret->stack) || !take_u64(&rest, &used) || used > size)
    return -EBADMSG;
  ret->stack.len = (size_t)used;
  return 0;
}

uint64_t perf_file_register(const struct perf_file *file, const struct recorded_sample *sample,
                            unsigned number) {
  uint64_t value = 0, bit = UINT64_C(1) << number;
  if (!(file->register_mask & bit) || sample->registers.len == 0) return 0;
  size_t place = (size_t)__builtin_popcountll(file->register_mask & (bit - 1)) * 8;
  memcpy(&value, sample->registers.data + place, sizeof value);
  return value;
}
