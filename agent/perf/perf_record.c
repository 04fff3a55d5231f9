/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel writes these bytes, but for a system-wide daemon other users opened the events, and
   may have requested other fields. So every field is taken with a length check, and a record that
   does not fit is rejected as a whole.

     SAMPLE  header | identifier | ip | pid tid | time | stream | period | content
     content nr | ips...                        call chain
             abi | registers | size | stack | used   pair or copy; with the kernel's behind a chain
     others  header | fields ... | pid tid | time | stream | identifier        (sample_id_all)

   Call chains contain context markers (PERF_CONTEXT_USER and others, the topmost 4095 values),
   which are not addresses and are left out. */
#include "perf_record.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

enum {
  HEADER_BYTES = 8,
  TRAILER_BYTES = 32,      /* pid tid, time, stream, identifier */
  SAMPLE_PID_OFFSET = 24,  /* header, identifier, ip */
  SAMPLE_TIME_OFFSET = 32, /* pid tid */
  MMAP_FIELDS_BYTES = 32,  /* pid tid, addr, len, pgoff */
  MMAP2_FIELDS_BYTES = 64, /* and maj min, ino, generation, prot flags */
};

static uint64_t read_u64(const uint8_t *at) {
  uint64_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static uint32_t read_u32(const uint8_t *at) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static struct perf_event_header read_header(struct span record) {
  struct perf_event_header header;
  memcpy(&header, record.data, sizeof header);
  return header;
}

size_t perf_record_size(struct span bytes) {
  if (bytes.len < HEADER_BYTES) return 0;
  struct perf_event_header header = read_header(bytes);
  if (header.size < HEADER_BYTES || header.size % 8 != 0 || header.size > bytes.len) return 0;
  return header.size;
}

uint64_t perf_record_time(struct span record) {
  if (record.len < HEADER_BYTES) return 0;
  if (read_header(record).type == PERF_RECORD_SAMPLE)
    return record.len >= SAMPLE_TIME_OFFSET + 8 ? read_u64(record.data + SAMPLE_TIME_OFFSET) : 0;
  if (record.len < HEADER_BYTES + TRAILER_BYTES) return 0;
  return read_u64(record.data + record.len - 24);
}

/* Copies at most SIZE - 1 bytes up to the first NUL of FROM. */
static void copy_text(struct span from, char *to, size_t size) {
  size_t len = strnlen((const char *)from.data, from.len);
  if (len > size - 1) len = size - 1;
  memcpy(to, from.data, len);
  to[len] = '\0';
}

/* Takes the call chain at the start of REST, and removes it from REST. */
static int take_chain(struct span *rest, uint64_t ip, struct perf_record *ret) {
  if (rest->len < 8) return -EBADMSG;
  uint64_t count = read_u64(rest->data);
  if (count > (rest->len - 8) / 8) return -EBADMSG;
  uint32_t depth = 0, kernel_depth = 0;
  bool is_kernel = false;
  for (uint64_t i = 0; i < count && depth < LIMIT_STACK_DEPTH; i++) {
    uint64_t pc = read_u64(rest->data + 8 + 8 * i);
    if (pc >= (uint64_t)PERF_CONTEXT_MAX) {
      is_kernel = pc == (uint64_t)PERF_CONTEXT_KERNEL && kernel_depth == depth;
      continue;
    }
    ret->sample.pc[depth++] = pc;
    if (is_kernel) kernel_depth = depth;
  }
  if (depth == 0) ret->sample.pc[depth++] = ip;
  ret->sample.depth = depth;
  ret->sample.kernel_depth = kernel_depth;
  size_t bytes = 8 + 8 * (size_t)count;
  *rest = span_of(rest->data + bytes, rest->len - bytes);
  return 0;
}

/* Takes the COUNT registers at the start of REST, and removes them from REST: their abi, and their
   address, or NULL if the kernel has none. */
static int take_registers(struct span *rest, uint32_t count, uint64_t *ret_abi,
                          const uint8_t **ret_registers) {
  if (rest->len < 8) return -EBADMSG;
  *ret_abi = read_u64(rest->data);
  size_t bytes = *ret_abi == PERF_SAMPLE_REGS_ABI_NONE ? 0 : 8 * (size_t)count;
  if (rest->len - 8 < bytes) return -EBADMSG;
  *ret_registers = bytes > 0 ? rest->data + 8 : NULL;
  *rest = span_of(rest->data + 8 + bytes, rest->len - 8 - bytes);
  return 0;
}

/* Takes the copied part of a stack. */
static int take_stack(struct span rest, struct span *ret) {
  *ret = span_of(rest.data, 0);
  if (rest.len < 8) return -EBADMSG;
  uint64_t size = read_u64(rest.data);
  if (size == 0) return 0; /* nothing was copied, and no length follows */
  if (size > rest.len - 8 || rest.len - 8 - size < 8) return -EBADMSG;
  uint64_t used = read_u64(rest.data + 8 + size);
  if (used > size) return -EBADMSG;
  *ret = span_of(rest.data + 8, (size_t)used);
  return 0;
}

/* The word at the stack pointer, in the process's word size; 0 if it could not be read
   completely. */
static uint64_t stack_word(struct span stack, uint64_t abi) {
  if (abi == PERF_SAMPLE_REGS_ABI_32 && stack.len >= 4) return read_u32(stack.data);
  return abi == PERF_SAMPLE_REGS_ABI_64 && stack.len >= 8 ? read_u64(stack.data) : 0;
}

static int decode_pair(struct span rest, const struct perf_regs *pair, struct perf_record *ret) {
  uint64_t abi = 0, lr = 0;
  const uint8_t *registers = NULL;
  struct span stack;
  int error = take_registers(&rest, pair->count, &abi, &registers);
  if (error) return error;
  if (registers != NULL && pair->lr >= 0) lr = read_u64(registers + 8 * (size_t)pair->lr);
  if (pair->stack_bytes > 0) {
    error = take_stack(rest, &stack);
    if (error) return error;
    lr = stack_word(stack, abi);
  }
  ret->sample.pc[1] = lr & pair->address_mask;
  ret->sample.depth = 2;
  return 0;
}

static int decode_copy(struct span rest, const struct perf_walk_regs *walk,
                       struct perf_record *ret) {
  struct perf_copy *copy = &ret->sample.copy;
  uint64_t abi = 0;
  const uint8_t *registers = NULL;
  int error = take_registers(&rest, walk->count, &abi, &registers);
  if (!error) error = take_stack(rest, &copy->stack);
  if (error || registers == NULL) return error;
  copy->word = abi == PERF_SAMPLE_REGS_ABI_64 ? PERF_WORD_64 : PERF_WORD_32;
  copy->pc = read_u64(registers + 8 * walk->pc);
  copy->sp = read_u64(registers + 8 * walk->sp);
  copy->lr = walk->lr >= 0 ? read_u64(registers + 8 * walk->lr) : 0;
  for (unsigned i = 0; i < PERF_REGS_TRACKED; i++)
    copy->tracked[i] = read_u64(registers + 8 * walk->tracked[i]);
  for (unsigned i = 0; i < walk->general_count; i++)
    if (walk->general[i] != PERF_REGS_NONE)
      copy->general[i] = read_u64(registers + 8 * walk->general[i]);
  return 0;
}

static int decode_content(struct span rest, const struct perf_form *form, struct perf_record *ret) {
  enum perf_content content = form != NULL ? form->content : PERF_CONTENT_CHAIN;
  enum perf_content callers = perf_content_callers(content);
  bool has_chain = (content & PERF_CONTENT_KERNEL) || callers == PERF_CONTENT_CHAIN ||
                   callers == PERF_CONTENT_COPY;
  int error = has_chain ? take_chain(&rest, ret->sample.pc[0], ret) : 0;
  if (error || callers == PERF_CONTENT_CHAIN) return error;
  if (callers == PERF_CONTENT_COPY) return decode_copy(rest, form->walk, ret);
  ret->sample.depth = 1;
  ret->sample.kernel_depth = ret->sample.kernel_depth > 0;
  bool is_pair = callers == PERF_CONTENT_PAIR && ret->sample.kernel_depth == 0;
  return is_pair ? decode_pair(rest, form->pair, ret) : 0;
}

static int decode_sample(struct span body, const struct perf_form *form, struct perf_record *ret) {
  enum { FIXED_BYTES = 48 }; /* identifier, ip, pid tid, time, stream, period */
  if (body.len < FIXED_BYTES) return -EBADMSG;
  ret->kind = PERF_RECORD_KIND_SAMPLE;
  ret->id = read_u64(body.data);
  ret->pid = (int32_t)read_u32(body.data + 16);
  ret->tid = (int32_t)read_u32(body.data + 20);
  ret->time = read_u64(body.data + 24);
  ret->sample.stream_id = read_u64(body.data + 32);
  ret->sample.period_ns = read_u64(body.data + 40);
  ret->sample.pc[0] = read_u64(body.data + 8);
  ret->sample.depth = 1;
  ret->sample.kernel_depth = 0;
  memset(&ret->sample.copy, 0, sizeof ret->sample.copy);
  return decode_content(span_of(body.data + FIXED_BYTES, body.len - FIXED_BYTES), form, ret);
}

static int decode_mmap(const struct perf_event_header *header, struct span body,
                       struct perf_record *ret) {
  bool is_second = header->type == PERF_RECORD_MMAP2;
  size_t fixed = is_second ? MMAP2_FIELDS_BYTES : MMAP_FIELDS_BYTES;
  if (body.len < fixed) return -EBADMSG;
  ret->kind = PERF_RECORD_KIND_MMAP;
  ret->pid = (int32_t)read_u32(body.data);
  ret->tid = (int32_t)read_u32(body.data + 4);
  ret->mmap.start = read_u64(body.data + 8);
  ret->mmap.len = read_u64(body.data + 16);
  ret->mmap.file_offset = read_u64(body.data + 24);
  ret->mmap.major = ret->mmap.minor = 0;
  ret->mmap.inode = 0;
  if (is_second && !(header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)) {
    ret->mmap.major = read_u32(body.data + 32);
    ret->mmap.minor = read_u32(body.data + 36);
    ret->mmap.inode = read_u64(body.data + 40);
  }
  copy_text(span_of(body.data + fixed, body.len - fixed), ret->mmap.path, sizeof ret->mmap.path);
  if (ret->mmap.len == 0 || ret->mmap.start + ret->mmap.len < ret->mmap.start) return -EBADMSG;
  if (header->misc & PERF_RECORD_MISC_MMAP_DATA) ret->kind = PERF_RECORD_KIND_OTHER;
  return 0;
}

static int decode_comm(const struct perf_event_header *header, struct span body,
                       struct perf_record *ret) {
  if (body.len < 8) return -EBADMSG;
  ret->kind = PERF_RECORD_KIND_COMM;
  ret->pid = (int32_t)read_u32(body.data);
  ret->tid = (int32_t)read_u32(body.data + 4);
  ret->comm.is_exec = header->misc & PERF_RECORD_MISC_COMM_EXEC;
  copy_text(span_of(body.data + 8, body.len - 8), ret->comm.name, sizeof ret->comm.name);
  return 0;
}

static int decode_task(const struct perf_event_header *header, struct span body,
                       struct perf_record *ret) {
  if (body.len < 16) return -EBADMSG;
  ret->kind = header->type == PERF_RECORD_FORK ? PERF_RECORD_KIND_FORK : PERF_RECORD_KIND_EXIT;
  ret->pid = (int32_t)read_u32(body.data);
  ret->task.parent_pid = (int32_t)read_u32(body.data + 4);
  ret->tid = (int32_t)read_u32(body.data + 8);
  ret->task.parent_tid = (int32_t)read_u32(body.data + 12);
  return 0;
}

/* LOST: id, count.  LOST_SAMPLES: count. */
static int decode_lost(const struct perf_event_header *header, struct span body,
                       struct perf_record *ret) {
  size_t at = header->type == PERF_RECORD_LOST ? 8 : 0;
  if (body.len < at + 8) return -EBADMSG;
  ret->kind = PERF_RECORD_KIND_LOST;
  ret->lost.count = read_u64(body.data + at);
  return 0;
}

static int decode_read(struct span body, struct perf_record *ret) {
  if (body.len < 16) return -EBADMSG;
  ret->kind = PERF_RECORD_KIND_READ;
  ret->pid = (int32_t)read_u32(body.data);
  ret->tid = (int32_t)read_u32(body.data + 4);
  ret->read.count = read_u64(body.data + 8);
  return 0;
}

static int decode_by_type(const struct perf_event_header *header, struct span body,
                          struct perf_record *ret) {
  switch (header->type) {
  case PERF_RECORD_MMAP:
  case PERF_RECORD_MMAP2:
    return decode_mmap(header, body, ret);
  case PERF_RECORD_COMM:
    return decode_comm(header, body, ret);
  case PERF_RECORD_FORK:
  case PERF_RECORD_EXIT:
    return decode_task(header, body, ret);
  case PERF_RECORD_LOST:
  case PERF_RECORD_LOST_SAMPLES:
    return decode_lost(header, body, ret);
  case PERF_RECORD_READ:
    return decode_read(body, ret);
  case PERF_RECORD_THROTTLE:
    ret->kind = PERF_RECORD_KIND_THROTTLE;
    return 0;
  default:
    ret->kind = PERF_RECORD_KIND_OTHER;
    return 0;
  }
}

bool perf_record_is_sample(struct span record, uint64_t *ret_id, int32_t *ret_pid) {
  if (record.len < SAMPLE_TIME_OFFSET || read_header(record).type != PERF_RECORD_SAMPLE)
    return false;
  *ret_id = read_u64(record.data + HEADER_BYTES);
  *ret_pid = (int32_t)read_u32(record.data + SAMPLE_PID_OFFSET);
  return true;
}

int perf_record_decode(struct span record, const struct perf_form *form, struct perf_record *ret) {
  if (perf_record_size(record) != record.len) return -EBADMSG;
  struct perf_event_header header = read_header(record);
  struct span body = span_of(record.data + HEADER_BYTES, record.len - HEADER_BYTES);
  if (header.type == PERF_RECORD_SAMPLE) return decode_sample(body, form, ret);
  if (body.len < TRAILER_BYTES) return -EBADMSG;
  body.len -= TRAILER_BYTES;
  const uint8_t *trailer = body.data + body.len;
  ret->pid = (int32_t)read_u32(trailer);
  ret->tid = (int32_t)read_u32(trailer + 4);
  ret->time = read_u64(trailer + 8);
  ret->id = read_u64(trailer + 24);
  return decode_by_type(&header, body, ret);
}
