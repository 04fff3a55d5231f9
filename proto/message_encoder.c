/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes struct message as one complete frame. A function for each type fills the generated
   struct; the table at the end selects it. The header is written first, and its length is corrected
   once the payload is written, so that a frame is built in one buffer.

   On failure the buffer is unchanged: a frame is appended completely or not at all. profile.proto
   describes the fields, limits.h their limits; batches are already compressed. */
#include "common/buf.h"
#include "limits.h"
#include "messages.h"
#include "pack.h"

#include <errno.h>

/* Memory of the generated structs of any control message; long spans are borrowed and do not
   count. */
enum { PACK_ARENA_BYTES = 128 << 10 };

/* Declares OUT, a zeroed generated struct in PACK's arena, or returns from the function. */
#define PACK_NEW(type, prefix)                  \
  type *out = pack_array(pack, 1, sizeof *out); \
  if (out == NULL) return NULL;                 \
  prefix##__init(out)

static ProtobufCMessage *pack_hello(struct pack *pack, const struct message *message) {
  const struct hello *hello = &message->hello;
  PACK_NEW(Fleetprof__Hello, fleetprof__hello);
  out->version = hello->version;
  out->boot_id =
      pack_bytes(pack, span_of(hello->boot_id, sizeof hello->boot_id), BATCH_BOOT_ID_BYTES);
  out->boottime_ns = hello->boottime_ns;
  out->walltime_ns = hello->walltime_ns;
  out->program_version = pack_text(pack, hello->program_version, LIMIT_NAME_BYTES);
  out->arch = pack_text(pack, hello->arch, LIMIT_NAME_BYTES);
  out->kernel = pack_text(pack, hello->kernel, LIMIT_VALUE_BYTES);
  out->n_labels = hello->label_count;
  out->labels = pack_labels(pack, hello->labels, hello->label_count);
  out->first_seq = hello->first_seq;
  out->capabilities = hello->capabilities;
  out->counters = pack_counters(pack, &hello->counters);
  out->sampler = pack_text(pack, hello->sampler, LIMIT_NAME_BYTES);
  out->achieved_mhz = hello->achieved_mhz;
  out->effort = pack_effort(pack, &hello->effort);
  out->n_boots = hello->boot_count;
  out->boots = pack_boots(pack, hello->boots, hello->boot_count);
  return &out->base;
}

static ProtobufCMessage *pack_welcome(struct pack *pack, const struct message *message) {
  PACK_NEW(Fleetprof__Welcome, fleetprof__welcome);
  out->version = message->welcome.version;
  out->walltime_ns = message->welcome.walltime_ns;
  out->last_seq = message->welcome.last_seq;
  out->page_url = pack_text(pack, message->welcome.page_url, LIMIT_PATH_BYTES);
  out->batch_bytes_max = message->welcome.batch_bytes_max;
  out->trust = message->welcome.trust;
  out->renew_only = message->welcome.renew_only;
  out->return_within_ms = message->welcome.return_within_ms;
  out->prefix_bytes_max = message->welcome.prefix_bytes_max;
  return &out->base;
}

static ProtobufCMessage *pack_envelope(struct pack *pack, const struct message *message) {
  const struct envelope *batch = &message->batch;
  PACK_NEW(Fleetprof__Envelope, fleetprof__envelope);
  if (batch->raw_len > LIMIT_BATCH_RAW_BYTES) pack_fail(pack, -EOVERFLOW);
  out->run = batch->run;
  out->seq = batch->seq;
  out->records = batch->records;
  out->raw_len = batch->raw_len;
  out->zstd = pack_bytes(pack, batch->zstd, LIMIT_BATCH_ZSTD_BYTES);
  out->after = batch->after;
  return &out->base;
}

static ProtobufCMessage *pack_ack(struct pack *pack, const struct message *message) {
  PACK_NEW(Fleetprof__Ack, fleetprof__ack);
  out->run = message->ack.run;
  out->seq = message->ack.seq;
  return &out->base;
}

static ProtobufCMessage *pack_reject(struct pack *pack, const struct message *message) {
  PACK_NEW(Fleetprof__Reject, fleetprof__reject);
  out->run = message->reject.run;
  out->seq = message->reject.seq;
  out->reason = pack_text(pack, message->reject.reason, LIMIT_VALUE_BYTES);
  out->permanent = message->reject.permanent;
  out->retry_after_ms = message->reject.retry_after_ms;
  out->over_quota = message->reject.over_quota;
  return &out->base;
}

static ProtobufCMessage *pack_debug_wanted(struct pack *pack, const struct message *message) {
  PACK_NEW(Fleetprof__DebugWanted, fleetprof__debug_wanted);
  out->id = pack_bytes(pack, message->debug_wanted.id, LIMIT_MODULE_ID_BYTES);
  out->path = pack_text(pack, message->debug_wanted.path, LIMIT_PATH_BYTES);
  out->offset = message->debug_wanted.offset;
  return &out->base;
}

static ProtobufCMessage *pack_debug_chunk(struct pack *pack, const struct message *message) {
  const struct debug_chunk *chunk = &message->debug_chunk;
  PACK_NEW(Fleetprof__DebugChunk, fleetprof__debug_chunk);
  if (chunk->raw_len > LIMIT_DEBUG_CHUNK_BYTES || chunk->total > LIMIT_DEBUG_FILE_BYTES)
    pack_fail(pack, -EOVERFLOW);
  out->id = pack_bytes(pack, chunk->id, LIMIT_MODULE_ID_BYTES);
  out->offset = chunk->offset;
  out->total = chunk->total;
  out->sha256 = pack_bytes(pack, chunk->sha256, MESSAGE_SHA256_BYTES);
  out->raw_len = chunk->raw_len;
  out->zstd = pack_bytes(pack, chunk->zstd, LIMIT_DEBUG_CHUNK_ZSTD_BYTES);
  return &out->base;
}

static ProtobufCMessage *pack_debug_end(struct pack *pack, const struct message *message) {
  PACK_NEW(Fleetprof__DebugEnd, fleetprof__debug_end);
  out->id = pack_bytes(pack, message->debug_end.id, LIMIT_MODULE_ID_BYTES);
  out->reason = pack_text(pack, message->debug_end.reason, LIMIT_VALUE_BYTES);
  return &out->base;
}

static ProtobufCMessage *pack_ping(struct pack *pack, const struct message *message) {
  PACK_NEW(Fleetprof__Ping, fleetprof__ping);
  out->boottime_ns = message->ping.boottime_ns;
  out->walltime_ns = message->ping.walltime_ns;
  out->counters = pack_counters(pack, &message->ping.counters);
  out->sampler = pack_text(pack, message->ping.sampler, LIMIT_NAME_BYTES);
  out->achieved_mhz = message->ping.achieved_mhz;
  out->effort = pack_effort(pack, &message->ping.effort);
  out->is_settled = message->ping.is_settled;
  return &out->base;
}

static ProtobufCMessage *pack_pong(struct pack *pack, const struct message *message) {
  PACK_NEW(Fleetprof__Pong, fleetprof__pong);
  out->walltime_ns = message->pong.walltime_ns;
  out->trust = message->pong.trust;
  out->return_within_ms = message->pong.return_within_ms;
  return &out->base;
}

static ProtobufCMessage *pack_command(struct pack *pack, const struct message *message) {
  PACK_NEW(Fleetprof__Command, fleetprof__command);
  out->id = message->command.id;
  out->verb = pack_text(pack, message->command.verb, LIMIT_NAME_BYTES);
  out->n_arguments = message->command.argument_count;
  out->arguments = pack_labels(pack, message->command.arguments, message->command.argument_count);
  return &out->base;
}

static ProtobufCMessage *pack_result(struct pack *pack, const struct message *message) {
  PACK_NEW(Fleetprof__Result, fleetprof__result);
  out->id = message->result.id;
  out->error = pack_text(pack, message->result.error, LIMIT_VALUE_BYTES);
  return &out->base;
}

static ProtobufCMessage *pack_enroll(struct pack *pack, const struct message *message) {
  PACK_NEW(Fleetprof__Enroll, fleetprof__enroll);
  out->version = message->enroll.version;
  out->token = pack_text(pack, message->enroll.token, LIMIT_TOKEN_BYTES);
  out->csr = pack_bytes(pack, message->enroll.csr, LIMIT_CSR_BYTES);
  return &out->base;
}

static ProtobufCMessage *pack_enrolled(struct pack *pack, const struct message *message) {
  PACK_NEW(Fleetprof__Enrolled, fleetprof__enrolled);
  out->board = pack_text(pack, message->enrolled.board, LIMIT_NAME_BYTES);
  out->certificate = pack_bytes(pack, message->enrolled.certificate, LIMIT_CERTIFICATE_BYTES);
  out->ca = pack_bytes(pack, message->enrolled.ca, LIMIT_CERTIFICATE_BYTES);
  out->error = pack_text(pack, message->enrolled.error, LIMIT_VALUE_BYTES);
  return &out->base;
}

static ProtobufCMessage *pack_renew(struct pack *pack, const struct message *message) {
  PACK_NEW(Fleetprof__Renew, fleetprof__renew);
  out->csr = pack_bytes(pack, message->renew.csr, LIMIT_CSR_BYTES);
  return &out->base;
}

static ProtobufCMessage *pack_renewed(struct pack *pack, const struct message *message) {
  PACK_NEW(Fleetprof__Renewed, fleetprof__renewed);
  out->certificate = pack_bytes(pack, message->renewed.certificate, LIMIT_CERTIFICATE_BYTES);
  out->ca = pack_bytes(pack, message->renewed.ca, LIMIT_CERTIFICATE_BYTES);
  out->error = pack_text(pack, message->renewed.error, LIMIT_VALUE_BYTES);
  return &out->base;
}

static ProtobufCMessage *(*const packers[FRAME_TYPE_END])(struct pack *, const struct message *) = {
    [FRAME_HELLO] = pack_hello,
    [FRAME_WELCOME] = pack_welcome,
    [FRAME_BATCH] = pack_envelope,
    [FRAME_ACK] = pack_ack,
    [FRAME_REJECT] = pack_reject,
    [FRAME_DEBUG_WANTED] = pack_debug_wanted,
    [FRAME_DEBUG_CHUNK] = pack_debug_chunk,
    [FRAME_DEBUG_END] = pack_debug_end,
    [FRAME_PING] = pack_ping,
    [FRAME_PONG] = pack_pong,
    [FRAME_COMMAND] = pack_command,
    [FRAME_RESULT] = pack_result,
    [FRAME_ENROLL] = pack_enroll,
    [FRAME_ENROLLED] = pack_enrolled,
    [FRAME_RENEW] = pack_renew,
    [FRAME_RENEWED] = pack_renewed,
};

int message_encode(const struct message *message, struct buf *ret) {
  if (message->type <= 0 || message->type >= FRAME_TYPE_END) return -EINVAL;
  size_t start = ret->len;
  if (buf_reserve(ret, FRAME_HEADER_BYTES) == NULL) return -ENOMEM;
  ret->len += FRAME_HEADER_BYTES;
  struct pack pack;
  pack_init(&pack, PACK_ARENA_BYTES);
  ProtobufCMessage *out = packers[message->type](&pack, message);
  int error = out ? pack_finish(&pack, out, ret) : pack.error;
  pack_fini(&pack);
  if (error != 0) {
    ret->len = start;
    return error;
  }
  size_t len = ret->len - start - FRAME_HEADER_BYTES;
  frame_header_encode(message->type, (uint32_t)len, ret->data + start);
  return 0;
}
