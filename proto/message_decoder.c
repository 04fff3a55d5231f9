/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes a frame's payload to struct message: the reverse of message_encoder.c, with every value
   checked. Checks that need only one message are here (lengths, text, contradictory sizes); checks
   that depend on the conversation (order, versions, permissions of a peer) are in the session.

   protobuf skips fields unknown to this version: that is how the protocol grows (WIRE.md). */
#include "common/arena.h"
#include "limits.h"
#include "messages.h"
#include "unpack.h"

#include <errno.h>

/* Declares IN, the unpacked payload, or returns from the function with the rejection recorded. */
#define UNPACK(type, prefix)                                               \
  const type *in = unpack_message(unpack, &prefix##__descriptor, payload); \
  if (in == NULL) return

static void unpack_hello(struct unpack *unpack, struct span payload, struct message *ret) {
  struct hello *hello = &ret->hello;
  UNPACK(Fleetprof__Hello, fleetprof__hello);
  hello->version = in->version;
  unpack_boot_id(unpack, in->boot_id, hello->boot_id);
  hello->boottime_ns = unpack_number(unpack, in->boottime_ns, "boot time", LIMIT(COUNT_MAX));
  hello->walltime_ns = unpack_number(unpack, in->walltime_ns, "wall time", LIMIT(COUNT_MAX));
  hello->program_version =
      unpack_text(unpack, in->program_version, "program version", LIMIT(LIMIT_NAME_BYTES));
  hello->arch = unpack_text(unpack, in->arch, "arch", LIMIT(LIMIT_NAME_BYTES));
  hello->kernel = unpack_text(unpack, in->kernel, "kernel", LIMIT(LIMIT_VALUE_BYTES));
  hello->labels = unpack_labels(unpack, in->labels, in->n_labels);
  hello->label_count = (uint32_t)in->n_labels;
  hello->first_seq = unpack_number(unpack, in->first_seq, "first seq", LIMIT(COUNT_MAX));
  hello->capabilities = in->capabilities;
  unpack_counters(unpack, in->counters, &hello->counters);
  hello->sampler = unpack_text(unpack, in->sampler, "sampler", LIMIT(LIMIT_NAME_BYTES));
  hello->achieved_mhz = in->achieved_mhz;
  unpack_effort(unpack, in->effort, &hello->effort);
  hello->boots = unpack_boots(unpack, in->boots, in->n_boots);
  hello->boot_count = (uint32_t)in->n_boots;
}

static void unpack_welcome(struct unpack *unpack, struct span payload, struct message *ret) {
  UNPACK(Fleetprof__Welcome, fleetprof__welcome);
  ret->welcome.version = in->version;
  ret->welcome.walltime_ns = unpack_number(unpack, in->walltime_ns, "wall time", LIMIT(COUNT_MAX));
  ret->welcome.last_seq = unpack_number(unpack, in->last_seq, "last seq", LIMIT(COUNT_MAX));
  ret->welcome.page_url = unpack_text(unpack, in->page_url, "page URL", LIMIT(LIMIT_PATH_BYTES));
  ret->welcome.batch_bytes_max = in->batch_bytes_max;
  ret->welcome.trust = in->trust;
  ret->welcome.renew_only = in->renew_only != 0;
  ret->welcome.return_within_ms = in->return_within_ms;
  ret->welcome.prefix_bytes_max = in->prefix_bytes_max;
}

static void unpack_envelope(struct unpack *unpack, struct span payload, struct message *ret) {
  UNPACK(Fleetprof__Envelope, fleetprof__envelope);
  ret->batch.run = in->run;
  ret->batch.seq = unpack_number(unpack, in->seq, "seq", LIMIT(COUNT_MAX));
  ret->batch.records = unpack_number(unpack, in->records, "record count", LIMIT(COUNT_MAX));
  ret->batch.raw_len = (uint32_t)unpack_number(unpack, in->raw_len, "batch length inflated",
                                               LIMIT(LIMIT_BATCH_RAW_BYTES));
  ret->batch.zstd =
      unpack_bytes(unpack, in->zstd, "batch compressed", LIMIT(LIMIT_BATCH_ZSTD_BYTES));
  ret->batch.after = unpack_number(unpack, in->after, "prefix", LIMIT(COUNT_MAX));
}

static void unpack_ack(struct unpack *unpack, struct span payload, struct message *ret) {
  UNPACK(Fleetprof__Ack, fleetprof__ack);
  ret->ack.run = in->run;
  ret->ack.seq = unpack_number(unpack, in->seq, "seq", LIMIT(COUNT_MAX));
}

static void unpack_reject(struct unpack *unpack, struct span payload, struct message *ret) {
  UNPACK(Fleetprof__Reject, fleetprof__reject);
  ret->reject.run = in->run;
  ret->reject.seq = unpack_number(unpack, in->seq, "seq", LIMIT(COUNT_MAX));
  ret->reject.reason = unpack_text(unpack, in->reason, "reason", LIMIT(LIMIT_VALUE_BYTES));
  ret->reject.permanent = in->permanent != 0;
  ret->reject.retry_after_ms = in->retry_after_ms;
  ret->reject.over_quota = in->over_quota != 0;
}

static struct span unpack_module_id(struct unpack *unpack, ProtobufCBinaryData id) {
  if (id.len == 0) unpack_refuse(unpack, -EBADMSG, "the module id is empty");
  return unpack_bytes(unpack, id, "module id", LIMIT(LIMIT_MODULE_ID_BYTES));
}

static void unpack_debug_wanted(struct unpack *unpack, struct span payload, struct message *ret) {
  UNPACK(Fleetprof__DebugWanted, fleetprof__debug_wanted);
  ret->debug_wanted.id = unpack_module_id(unpack, in->id);
  ret->debug_wanted.path = unpack_text(unpack, in->path, "path", LIMIT(LIMIT_PATH_BYTES));
  ret->debug_wanted.offset =
      unpack_number(unpack, in->offset, "offset", LIMIT(LIMIT_DEBUG_FILE_BYTES));
}

static void unpack_debug_chunk(struct unpack *unpack, struct span payload, struct message *ret) {
  struct debug_chunk *chunk = &ret->debug_chunk;
  UNPACK(Fleetprof__DebugChunk, fleetprof__debug_chunk);
  chunk->id = unpack_module_id(unpack, in->id);
  chunk->total =
      unpack_number(unpack, in->total, "debug file length", LIMIT(LIMIT_DEBUG_FILE_BYTES));
  chunk->offset = in->offset;
  chunk->raw_len = (uint32_t)unpack_number(unpack, in->raw_len, "chunk length inflated",
                                           LIMIT(LIMIT_DEBUG_CHUNK_BYTES));
  if (chunk->offset > chunk->total || chunk->raw_len > chunk->total - chunk->offset)
    unpack_refuse(unpack, -EBADMSG, "the chunk ends behind the end of its file");
  if (in->sha256.len != MESSAGE_SHA256_BYTES)
    unpack_refuse(unpack, -EBADMSG, "SHA-256 is %zu bytes long, not %d", in->sha256.len,
                  MESSAGE_SHA256_BYTES);
  chunk->sha256 = span_of(in->sha256.data, in->sha256.len);
  chunk->zstd =
      unpack_bytes(unpack, in->zstd, "chunk compressed", LIMIT(LIMIT_DEBUG_CHUNK_ZSTD_BYTES));
}

static void unpack_debug_end(struct unpack *unpack, struct span payload, struct message *ret) {
  UNPACK(Fleetprof__DebugEnd, fleetprof__debug_end);
  ret->debug_end.id = unpack_module_id(unpack, in->id);
  ret->debug_end.reason = unpack_text(unpack, in->reason, "reason", LIMIT(LIMIT_VALUE_BYTES));
}

static void unpack_ping(struct unpack *unpack, struct span payload, struct message *ret) {
  UNPACK(Fleetprof__Ping, fleetprof__ping);
  ret->ping.boottime_ns = unpack_number(unpack, in->boottime_ns, "boot time", LIMIT(COUNT_MAX));
  ret->ping.walltime_ns = unpack_number(unpack, in->walltime_ns, "wall time", LIMIT(COUNT_MAX));
  unpack_counters(unpack, in->counters, &ret->ping.counters);
  ret->ping.sampler = unpack_text(unpack, in->sampler, "sampler", LIMIT(LIMIT_NAME_BYTES));
  ret->ping.achieved_mhz = in->achieved_mhz;
  unpack_effort(unpack, in->effort, &ret->ping.effort);
  ret->ping.is_settled = in->is_settled;
}

static void unpack_pong(struct unpack *unpack, struct span payload, struct message *ret) {
  UNPACK(Fleetprof__Pong, fleetprof__pong);
  ret->pong.walltime_ns = unpack_number(unpack, in->walltime_ns, "wall time", LIMIT(COUNT_MAX));
  ret->pong.trust = in->trust;
  ret->pong.return_within_ms = in->return_within_ms;
}

static void unpack_command(struct unpack *unpack, struct span payload, struct message *ret) {
  UNPACK(Fleetprof__Command, fleetprof__command);
  ret->command.id = in->id;
  ret->command.verb = unpack_text(unpack, in->verb, "verb", LIMIT(LIMIT_NAME_BYTES));
  ret->command.arguments = unpack_labels(unpack, in->arguments, in->n_arguments);
  ret->command.argument_count = (uint32_t)in->n_arguments;
}

static void unpack_result(struct unpack *unpack, struct span payload, struct message *ret) {
  UNPACK(Fleetprof__Result, fleetprof__result);
  ret->result.id = in->id;
  ret->result.error = unpack_text(unpack, in->error, "error", LIMIT(LIMIT_VALUE_BYTES));
}

static void unpack_enroll(struct unpack *unpack, struct span payload, struct message *ret) {
  UNPACK(Fleetprof__Enroll, fleetprof__enroll);
  ret->enroll.version = in->version;
  ret->enroll.token = unpack_text(unpack, in->token, "token", LIMIT(LIMIT_TOKEN_BYTES));
  ret->enroll.csr = unpack_bytes(unpack, in->csr, "CSR", LIMIT(LIMIT_CSR_BYTES));
}

static void unpack_enrolled(struct unpack *unpack, struct span payload, struct message *ret) {
  UNPACK(Fleetprof__Enrolled, fleetprof__enrolled);
  ret->enrolled.board = unpack_text(unpack, in->board, "board", LIMIT(LIMIT_NAME_BYTES));
  ret->enrolled.certificate =
      unpack_bytes(unpack, in->certificate, "certificate", LIMIT(LIMIT_CERTIFICATE_BYTES));
  ret->enrolled.ca = unpack_bytes(unpack, in->ca, "CA", LIMIT(LIMIT_CERTIFICATE_BYTES));
  ret->enrolled.error = unpack_text(unpack, in->error, "error", LIMIT(LIMIT_VALUE_BYTES));
}

static void unpack_renew(struct unpack *unpack, struct span payload, struct message *ret) {
  UNPACK(Fleetprof__Renew, fleetprof__renew);
  ret->renew.csr = unpack_bytes(unpack, in->csr, "CSR", LIMIT(LIMIT_CSR_BYTES));
}

static void unpack_renewed(struct unpack *unpack, struct span payload, struct message *ret) {
  UNPACK(Fleetprof__Renewed, fleetprof__renewed);
  ret->renewed.certificate =
      unpack_bytes(unpack, in->certificate, "certificate", LIMIT(LIMIT_CERTIFICATE_BYTES));
  ret->renewed.ca = unpack_bytes(unpack, in->ca, "CA", LIMIT(LIMIT_CERTIFICATE_BYTES));
  ret->renewed.error = unpack_text(unpack, in->error, "error", LIMIT(LIMIT_VALUE_BYTES));
}

static void (*const unpackers[FRAME_TYPE_END])(struct unpack *, struct span, struct message *) = {
    [FRAME_HELLO] = unpack_hello,
    [FRAME_WELCOME] = unpack_welcome,
    [FRAME_BATCH] = unpack_envelope,
    [FRAME_ACK] = unpack_ack,
    [FRAME_REJECT] = unpack_reject,
    [FRAME_DEBUG_WANTED] = unpack_debug_wanted,
    [FRAME_DEBUG_CHUNK] = unpack_debug_chunk,
    [FRAME_DEBUG_END] = unpack_debug_end,
    [FRAME_PING] = unpack_ping,
    [FRAME_PONG] = unpack_pong,
    [FRAME_COMMAND] = unpack_command,
    [FRAME_RESULT] = unpack_result,
    [FRAME_ENROLL] = unpack_enroll,
    [FRAME_ENROLLED] = unpack_enrolled,
    [FRAME_RENEW] = unpack_renew,
    [FRAME_RENEWED] = unpack_renewed,
};

int message_decode(const struct frame *frame, struct arena *arena, struct message *ret_message,
                   char *why, unsigned long why_len) {
  struct unpack unpack;
  unpack_init(&unpack, arena, why, why_len);
  if (frame->type <= 0 || frame->type >= FRAME_TYPE_END) {
    unpack_refuse(&unpack, -EBADMSG, "unknown frame type %d", (int)frame->type);
    return unpack.error;
  }
  struct message message = {.type = frame->type};
  unpackers[frame->type](&unpack, frame->payload, &message);
  if (unpack.error == 0) *ret_message = message;
  return unpack.error;
}
