/* SPDX-License-Identifier: Apache-2.0 */
/* protobuf-c unpacks a message as a whole, and an empty submessage of two bytes takes some eighty
   in memory. So it unpacks into the caller's arena, which has a memory limit, and a message that
   does not fit is rejected. Nothing is freed separately. The results borrow from the arena, which
   also holds the strings, so that only the module's own arrays are added.

   After unpacking every value is checked before it is used: a string by its length and its bytes, a
   number by the range of a signed 64-bit column of the store. A NUL ends a string, because
   protobuf-c passes it without a length. */
#include "unpack.h"
#include "common/text.h"
#include "limits.h"
#include "varint.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static void *on_alloc(void *context, size_t len) {
  struct unpack *unpack = context;
  void *data = arena_alloc(unpack->arena, len);
  if (data != NULL) return data;
  if (arena_is_over(unpack->arena, len))
    unpack->is_over_limit = true;
  else
    unpack->is_out_of_memory = true;
  return NULL;
}

/* The owner frees the whole arena. */
static void on_free(void *context, void *data) {
  (void)context, (void)data;
}

void unpack_init(struct unpack *unpack, struct arena *arena, char *why, size_t why_len) {
  *unpack = (struct unpack){.arena = arena, .why = why, .why_len = why_len};
  unpack->allocator =
      (ProtobufCAllocator){.alloc = on_alloc, .free = on_free, .allocator_data = unpack};
}

void unpack_refuse(struct unpack *unpack, int error, const char *format, ...) {
  if (unpack->error != 0) return;
  unpack->error = error;
  if (unpack->why_len == 0) return;
  va_list args;
  va_start(args, format);
  vsnprintf(unpack->why, unpack->why_len, format, args);
  va_end(args);
}

/* Distinguishes an exhausted limit from a machine without memory. */
static void refuse_allocation(struct unpack *unpack) {
  if (unpack->is_over_limit)
    unpack_refuse(unpack, -EOVERFLOW, "unpacking takes more than its budget of %zu bytes",
                  unpack->arena->limit_bytes);
  else
    unpack_refuse(unpack, -ENOMEM, "out of memory");
}

/* protobuf-c returns only NULL; on_alloc has recorded whether memory was short. */
void *unpack_message(struct unpack *unpack, const ProtobufCMessageDescriptor *descriptor,
                     struct span bytes) {
  if (unpack->error != 0) return NULL;
  void *message = protobuf_c_message_unpack(descriptor, &unpack->allocator, bytes.len, bytes.data);
  if (message != NULL) return message;
  if (unpack->is_over_limit || unpack->is_out_of_memory)
    refuse_allocation(unpack);
  else
    unpack_refuse(unpack, -EBADMSG, "not a protobuf message of type %s", descriptor->short_name);
  return NULL;
}

void *unpack_array(struct unpack *unpack, size_t count, size_t size) {
  if (unpack->error != 0) return NULL;
  void *array = on_alloc(unpack, count * size); /* counts are limited: this cannot overflow */
  if (array == NULL) refuse_allocation(unpack);
  return array;
}

const char *unpack_text(struct unpack *unpack, const char *text, const char *what,
                        struct limit limit) {
  struct span span = span_of_string(text);
  if (span.len > limit.value)
    unpack_refuse(unpack, -EOVERFLOW, "%s is %zu bytes long, %s is %ju", what, span.len, limit.name,
                  (uintmax_t)limit.value);
  else if (!text_is_clean(span))
    unpack_refuse(unpack, -EBADMSG, "%s holds control characters or is not UTF-8", what);
  return unpack->error == 0 ? text : "";
}

struct span unpack_bytes(struct unpack *unpack, ProtobufCBinaryData bytes, const char *what,
                         struct limit limit) {
  if (bytes.len > limit.value)
    unpack_refuse(unpack, -EOVERFLOW, "%s is %zu bytes long, %s is %ju", what, bytes.len,
                  limit.name, (uintmax_t)limit.value);
  if (unpack->error != 0) return (struct span){0};
  return span_of(bytes.data, bytes.len);
}

uint64_t unpack_number(struct unpack *unpack, uint64_t value, const char *what,
                       struct limit limit) {
  if (value > limit.value)
    unpack_refuse(unpack, -EOVERFLOW, "%s is %ju, %s is %ju", what, (uintmax_t)value, limit.name,
                  (uintmax_t)limit.value);
  return unpack->error == 0 ? value : 0;
}

void unpack_boot_id(struct unpack *unpack, ProtobufCBinaryData bytes,
                    uint8_t id[BATCH_BOOT_ID_BYTES]) {
  if (bytes.len != BATCH_BOOT_ID_BYTES)
    unpack_refuse(unpack, -EBADMSG, "boot id is %zu bytes long, not %d", bytes.len,
                  BATCH_BOOT_ID_BYTES);
  else
    memcpy(id, bytes.data, BATCH_BOOT_ID_BYTES);
}

const struct label *unpack_labels(struct unpack *unpack, Fleetprof__Label **labels, size_t count) {
  unpack_number(unpack, count, "number of labels", LIMIT(LIMIT_LABELS));
  if (unpack->error != 0 || count == 0) return NULL;
  struct label *unpacked = unpack_array(unpack, count, sizeof *unpacked);
  for (size_t i = 0; unpacked != NULL && i < count; i++) {
    unpacked[i].name = unpack_text(unpack, labels[i]->name, "label name", LIMIT(LIMIT_NAME_BYTES));
    unpacked[i].value =
        unpack_text(unpack, labels[i]->value, "label value", LIMIT(LIMIT_VALUE_BYTES));
    if (unpacked[i].name[0] == '\0') unpack_refuse(unpack, -EBADMSG, "a label has no name");
  }
  return unpacked;
}

const struct boot_time *unpack_boots(struct unpack *unpack, Fleetprof__Boot **boots, size_t count) {
  unpack_number(unpack, count, "number of boots", LIMIT(LIMIT_BOOTS));
  if (unpack->error != 0 || count == 0) return NULL;
  struct boot_time *unpacked = unpack_array(unpack, count, sizeof *unpacked);
  for (size_t i = 0; unpacked != NULL && i < count; i++) {
    unpack_boot_id(unpack, boots[i]->boot_id, unpacked[i].boot_id);
    unpacked[i].offset_ns =
        unpack_number(unpack, boots[i]->offset_ns, "offset of a boot", LIMIT(COUNT_MAX));
    unpacked[i].alive_ns =
        unpack_number(unpack, boots[i]->alive_ns, "length of a boot", LIMIT(COUNT_MAX));
  }
  return unpacked;
}

static void unpack_dropped(struct unpack *unpack, ProtobufCBinaryData cells,
                           struct counters *counters) {
  struct span rest = span_of(cells.data, cells.len);
  for (size_t i = 0; rest.len > 0 && unpack->error == 0; i++) {
    uint64_t dropped;
    if (varint_decode(&rest, &dropped) != 0) {
      unpack_refuse(unpack, -EBADMSG, "dropped counts end inside a number");
    } else if (i >= LOSS_REASON_COUNT) {
      unpack_refuse(unpack, -EBADMSG, "loss reason %zu is not known here: update the collector", i);
    } else {
      counters->dropped[i] = unpack_number(unpack, dropped, "dropped count", LIMIT(COUNT_MAX));
    }
  }
}

void unpack_counters(struct unpack *unpack, const Fleetprof__Counters *packed,
                     struct counters *ret) {
  if (packed == NULL) {
    unpack_refuse(unpack, -EBADMSG, "the counters are missing");
    return;
  }
  struct counters counters = {.run = packed->run, .final = packed->final ? 1 : 0};
  counters.produced = unpack_number(unpack, packed->produced, "produced count", LIMIT(COUNT_MAX));
  counters.shipped = unpack_number(unpack, packed->shipped, "shipped count", LIMIT(COUNT_MAX));
  unpack_dropped(unpack, packed->dropped, &counters);
  if (unpack->error == 0) *ret = counters;
}

/* An end that only a newer board defines counts as unknown. */
static void unpack_stacks(struct unpack *unpack, ProtobufCBinaryData cells,
                          uint64_t ret[STACK_END_COUNT]) {
  struct span rest = span_of(cells.data, cells.len);
  uint64_t sum = 0;
  for (size_t i = 0; rest.len > 0 && unpack->error == 0; i++) {
    uint64_t weight;
    if (varint_decode(&rest, &weight) != 0) {
      unpack_refuse(unpack, -EBADMSG, "weights of stacks end inside a number");
    } else {
      sum += unpack_number(unpack, weight, "weight of stacks", LIMIT(COUNT_MAX - sum));
      ret[i < STACK_END_COUNT ? i : STACK_UNTOLD] += weight;
    }
  }
}

void unpack_effort(struct unpack *unpack, const Fleetprof__Effort *in, struct effort *ret) {
  *ret = (struct effort){.rate_reason = "", .budget_state = ""};
  if (in == NULL) return;
  ret->asked_mhz = in->asked_mhz;
  ret->rate_reason = unpack_text(unpack, in->rate_reason, "rate reason", LIMIT(LIMIT_NAME_BYTES));
  ret->handler_p50_ns =
      unpack_number(unpack, in->handler_p50_ns, "handler's median", LIMIT(COUNT_MAX));
  ret->handler_p99_ns =
      unpack_number(unpack, in->handler_p99_ns, "handler's 99th", LIMIT(COUNT_MAX));
  ret->sample_ns = unpack_number(unpack, in->sample_ns, "cost of a sample", LIMIT(COUNT_MAX));
  ret->daemon_cpu_ppm = in->daemon_cpu_ppm;
  ret->added_cpu_ppm = in->added_cpu_ppm;
  ret->bytes_day = unpack_number(unpack, in->bytes_day, "bytes a day", LIMIT(COUNT_MAX));
  ret->budget_cpu_ppm = in->budget_cpu_ppm;
  ret->budget_bytes_day =
      unpack_number(unpack, in->budget_bytes_day, "budget of bytes", LIMIT(COUNT_MAX));
  ret->budget_state =
      unpack_text(unpack, in->budget_state, "budget state", LIMIT(LIMIT_NAME_BYTES));
  unpack_stacks(unpack, in->stacks_ns, ret->stacks_ns);
}
