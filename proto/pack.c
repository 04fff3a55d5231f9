/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding builds the generated structs in an arena, and protobuf-c writes them directly into the
   caller's buffer: their exact size is computed first, so nothing is copied twice. Long data
   (columns, zstd, certificates) and clean strings are borrowed, not copied.

   Limits are checked here as well as by the receiver: a message that a peer would reject must not
   be sent, or it would be repeated for ever. The generated structs need `char *` although they only
   read. */
#include "pack.h"
#include "common/buf.h"
#include "common/text.h"
#include "limits.h"
#include "varint.h"

#include <errno.h>

void pack_init(struct pack *pack, size_t limit_bytes) {
  *pack = (struct pack){0};
  arena_init(&pack->arena, limit_bytes);
}

void pack_fini(struct pack *pack) {
  arena_fini(&pack->arena);
}

void pack_fail(struct pack *pack, int error) {
  if (pack->error == 0) pack->error = error;
}

void *pack_array(struct pack *pack, size_t count, size_t size) {
  void *array = pack->error == 0 ? arena_array(&pack->arena, count, size) : NULL;
  if (array == NULL) pack_fail(pack, -ENOMEM);
  return array;
}

char *pack_text(struct pack *pack, const char *text, size_t limit_bytes) {
  char *borrowed = (char *)(uintptr_t)(text ? text : protobuf_c_empty_string);
  struct span span = span_of_string(borrowed);
  if (span.len > limit_bytes) pack_fail(pack, -EOVERFLOW);
  if (pack->error != 0 || text_is_clean(span)) return borrowed;
  char *copy = arena_string(&pack->arena, span.data, span.len);
  if (copy == NULL) {
    pack_fail(pack, -ENOMEM);
    return borrowed;
  }
  text_clean(copy);
  return copy;
}

ProtobufCBinaryData pack_bytes(struct pack *pack, struct span bytes, size_t limit_bytes) {
  if (bytes.len > limit_bytes) pack_fail(pack, -EOVERFLOW);
  return (ProtobufCBinaryData){.len = bytes.len, .data = (uint8_t *)(uintptr_t)bytes.data};
}

Fleetprof__Label **pack_labels(struct pack *pack, const struct label *labels, size_t count) {
  if (count == 0) return NULL;
  if (count > LIMIT_LABELS) pack_fail(pack, -EOVERFLOW);
  Fleetprof__Label *packed = pack_array(pack, count, sizeof *packed);
  Fleetprof__Label **list = pack_array(pack, count, sizeof *list);
  if (packed == NULL || list == NULL) return NULL;
  for (size_t i = 0; i < count; i++) {
    fleetprof__label__init(&packed[i]);
    packed[i].name = pack_text(pack, labels[i].name, LIMIT_NAME_BYTES);
    packed[i].value = pack_text(pack, labels[i].value, LIMIT_VALUE_BYTES);
    list[i] = &packed[i];
  }
  return list;
}

Fleetprof__Boot **pack_boots(struct pack *pack, const struct boot_time *boots, size_t count) {
  if (count == 0) return NULL;
  if (count > LIMIT_BOOTS) pack_fail(pack, -EOVERFLOW);
  Fleetprof__Boot *packed = pack_array(pack, count, sizeof *packed);
  Fleetprof__Boot **list = pack_array(pack, count, sizeof *list);
  if (packed == NULL || list == NULL) return NULL;
  for (size_t i = 0; i < count; i++) {
    fleetprof__boot__init(&packed[i]);
    packed[i].boot_id =
        pack_bytes(pack, span_of(boots[i].boot_id, BATCH_BOOT_ID_BYTES), BATCH_BOOT_ID_BYTES);
    packed[i].offset_ns = boots[i].offset_ns;
    packed[i].alive_ns = boots[i].alive_ns;
    list[i] = &packed[i];
  }
  return list;
}

/* Trailing zeros are not sent, so that a peer with fewer entries can still read it. */
static ProtobufCBinaryData pack_cells(struct pack *pack, const uint64_t *values, size_t count) {
  while (count > 0 && values[count - 1] == 0) count--;
  struct buf cells = {0};
  for (size_t i = 0; i < count; i++) varint_encode(&cells, values[i]);
  ProtobufCBinaryData packed = {0};
  uint8_t *copy = cells.failed ? NULL : arena_alloc(&pack->arena, cells.len);
  if (copy == NULL)
    pack_fail(pack, -ENOMEM);
  else if (cells.len > 0)
    packed = (ProtobufCBinaryData){.len = cells.len, .data = memcpy(copy, cells.data, cells.len)};
  buf_fini(&cells);
  return packed;
}

Fleetprof__Counters *pack_counters(struct pack *pack, const struct counters *counters) {
  Fleetprof__Counters *packed = pack_array(pack, 1, sizeof *packed);
  if (packed == NULL) return NULL;
  fleetprof__counters__init(packed);
  packed->run = counters->run;
  packed->produced = counters->produced;
  packed->shipped = counters->shipped;
  packed->final = counters->final != 0;
  packed->dropped = pack_cells(pack, counters->dropped, LOSS_REASON_COUNT);
  return packed;
}

Fleetprof__Effort *pack_effort(struct pack *pack, const struct effort *effort) {
  if (effort->budget_state == NULL || effort->budget_state[0] == '\0') return NULL;
  Fleetprof__Effort *out = pack_array(pack, 1, sizeof *out);
  if (out == NULL) return NULL;
  fleetprof__effort__init(out);
  out->asked_mhz = effort->asked_mhz;
  out->rate_reason = pack_text(pack, effort->rate_reason, LIMIT_NAME_BYTES);
  out->handler_p50_ns = effort->handler_p50_ns;
  out->handler_p99_ns = effort->handler_p99_ns;
  out->sample_ns = effort->sample_ns;
  out->daemon_cpu_ppm = effort->daemon_cpu_ppm;
  out->added_cpu_ppm = effort->added_cpu_ppm;
  out->bytes_day = effort->bytes_day;
  out->budget_cpu_ppm = effort->budget_cpu_ppm;
  out->budget_bytes_day = effort->budget_bytes_day;
  out->budget_state = pack_text(pack, effort->budget_state, LIMIT_NAME_BYTES);
  out->stacks_ns = pack_cells(pack, effort->stacks_ns, STACK_END_COUNT);
  return out;
}

int pack_finish(struct pack *pack, const ProtobufCMessage *message, struct buf *ret) {
  if (pack->error != 0) return pack->error;
  size_t len = protobuf_c_message_get_packed_size(message);
  uint8_t *to = buf_reserve(ret, len);
  if (to == NULL) {
    pack_fail(pack, -ENOMEM);
    return pack->error;
  }
  ret->len += protobuf_c_message_pack(message, to);
  return 0;
}
