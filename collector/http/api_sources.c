/* SPDX-License-Identifier: Apache-2.0 */
/* Source bundles over HTTP. They are uploaded as debug files are, in requests of at most 64 MiB,
   and can be resumed. A hash identifies an upload, so HEAD needs the hash, too. */
#include "api.h"

#include "common/json.h"
#include "names/source_store.h"
#include "request.h"
#include "upload_words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static int on_bundle(void *context, const struct source_known *bundle) {
  struct json *json = context;
  json_open(json, '{');
  json_key_string(json, "build_id", bundle->build_id);
  json_key_uint(json, "bytes", bundle->bytes);
  json_key_uint(json, "files", bundle->files);
  json_close(json, '}');
  return 0;
}

void api_sources_list(struct request *request) {
  struct json json;
  answer_begin_json(&request->answer, &json);
  json_key(&json, "sources");
  json_open(&json, '[');
  int error = source_store_list(request->service->parts.sources, on_bundle, &json);
  json_close(&json, ']');
  if (error)
    answer_problem(&request->answer, 500, NULL, "the list cannot be read: %s", strerror(-error));
  else
    answer_end_json(&request->answer, &json);
}

static struct source_piece piece_of(const struct upload_words *upload) {
  return (struct source_piece){.id = span_of(upload->id.bytes, upload->id.len),
                               .sha256 = span_of(upload->sha256.bytes, upload->sha256.len),
                               .offset = upload->offset,
                               .total = upload->total};
}

static uint64_t whatever_is_there(const struct source_store *sources, struct span id) {
  struct source_bundle bundle = {.count = 0};
  uint64_t bytes = source_store_map(sources, id, &bundle) == 0 ? bundle.bytes.len : 0;
  source_store_unmap(&bundle);
  return bytes;
}

/* With a hash: returns the bytes received of that bundle. Without a hash: the size of the module's
   bundle. */
void api_sources_head(struct request *request) {
  struct upload_words upload;
  char bytes[24];
  if (upload_words_parse(request, &upload) != 0) return;
  const struct source_store *sources = request->service->parts.sources;
  const struct source_piece piece = piece_of(&upload);
  bool is_of_bytes = piece.sha256.len > 0;
  uint64_t there =
      is_of_bytes ? source_store_uploaded(sources, &piece) : whatever_is_there(sources, piece.id);
  if (there == 0) {
    answer_problem(&request->answer, 404, NULL, "no such sources of this build-id are here");
    return;
  }
  snprintf(bytes, sizeof bytes, "%" PRIu64, there);
  request->answer.length = there;
  answer_add_field(&request->answer, "Upload-Offset", bytes);
  answer_add_field(&request->answer, "Fleetprof-Quality",
                   is_of_bytes && there < piece.total ? "none" : "sources");
}

static void answer_taken(struct request *request, const struct upload_words *upload,
                         bool is_whole) {
  struct json json;
  answer_begin_json(&request->answer, &json);
  json_key_string(&json, "build_id", request->argument);
  json_key_uint(&json, "bytes", upload->offset + request->body_len);
  json_key(&json, "complete");
  json_bool(&json, is_whole);
  answer_end_json(&request->answer, &json);
  request->answer.status = is_whole ? 201 : 202;
}

static void answer_refusal(struct request *request, const struct source_piece *piece, int error,
                           const char *why) {
  int status = error == -EBADMSG     ? 400
               : error == -ESPIPE    ? 409
               : error == -EOVERFLOW ? 413
               : error == -ENOSPC    ? 507
                                     : 500;
  char bytes[24];
  answer_problem(&request->answer, status, NULL, "the sources are not taken: %s", why);
  if (error != -ESPIPE) return;
  uint64_t there = source_store_uploaded(request->service->parts.sources, piece);
  snprintf(bytes, sizeof bytes, "%" PRIu64, there); /* the offset to resume from */
  answer_add_field(&request->answer, "Upload-Offset", bytes);
}

void api_sources_put(struct request *request) {
  struct upload_words upload;
  char why[256] = "";
  if (upload_words_parse(request, &upload) != 0) return;
  struct source_piece piece = piece_of(&upload);
  piece.offset += request->body_done;
  piece.bytes = span_of(request->piece, request->piece_len);
  int written = source_store_write(request->service->parts.sources, &piece, why, sizeof why);
  bool is_last = request->body_done + request->piece_len == request->body_len;
  if (written < 0)
    answer_refusal(request, &piece, written, why);
  else if (written == 1 || is_last)
    answer_taken(request, &upload, written == 1);
  else
    request->wants_more = true;
}
