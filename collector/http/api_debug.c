/* SPDX-License-Identifier: Apache-2.0 */
/* Debug files over HTTP: lists the state of each module, and takes an operator's uploads.

   An upload is never whole in memory: each piece from the connection is written before the next one
   is requested. One request carries at most 64 MiB. A longer file is sent in several requests, each
   with `offset`. All but the last have `total`: without it a request is assumed to hold the end of
   the file. HEAD returns the number of bytes received, so that an interrupted upload can resume.
   With `sha256`, the hash of the whole file, a piece is never appended to another file's bytes. */
#include "api.h"

#include "common/clock.h"
#include "common/hex_text.h"
#include "common/json.h"
#include "hex_id.h"
#include "names/debug_sent.h"
#include "names/debug_store.h"
#include "names/rival_file.h"
#include "names/symbolizer.h"
#include "proto/limits.h"
#include "request.h"
#include "selection.h"
#include "translators/translator_pool.h"
#include "upload_words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum {
  SHA256_BYTES = 32,
  LISTED_ALL = 1, /* of the modules that fit into the answer; ends the walk */
};

struct module_walk {
  struct json json;
  uint32_t left;
  struct translator_pool *translators; /* or NULL */
};

/* Prints the state of the translator of module ID, and the quality of names that it replaces.
   Prints nothing if its names were never requested. */
static void print_translator(struct module_walk *walk, struct span id) {
  struct translator_state state;
  if (walk->translators == NULL || translator_pool_tell(walk->translators, id, &state) != 0) return;
  json_key(&walk->json, "translator");
  json_open(&walk->json, '{');
  json_key_string(&walk->json, "command", state.command);
  json_key_string(&walk->json, "instead_of", state.quality);
  json_key_uint(&walk->json, "named", state.told);
  if (state.why[0] != '\0') json_key_string(&walk->json, "failure", state.why);
  json_close(&walk->json, '}');
}

static int on_module(void *context, const struct debug_module *module) {
  struct module_walk *walk = context;
  char id[2 * LIMIT_MODULE_ID_BYTES + 1];
  if (walk->left-- == 0 || walk->json.is_full) return LISTED_ALL;
  hex_text_print(module->id, id, sizeof id);
  json_open(&walk->json, '{');
  json_key_string(&walk->json, "build_id", id);
  json_key_string(&walk->json, "path", module->path);
  json_key_string(&walk->json, "quality", debug_quality_name(module->quality));
  json_key(&walk->json, "wanted");
  json_bool(&walk->json, module->is_wanted);
  json_key_string(&walk->json, "reason", module->reason);
  print_translator(walk, module->id);
  json_close(&walk->json, '}');
  return 0;
}

void api_debug_list(struct request *request) {
  struct selection selection;
  struct selection_fault fault;
  if (selection_parse(&request->parameters, clock_judged_ns(), &selection, &fault) != 0) {
    answer_problem(&request->answer, 400, fault.parameter, "%s", fault.detail);
    return;
  }
  struct module_walk walk = {.left = selection.has_limit ? selection.limit : SELECTION_LIMIT_MAX};
  walk.translators = symbolizer_translators(request->service->parts.symbolizer);
  selection_fini(&selection); /* the others select nothing: modules have no time or board */
  answer_begin_json(&request->answer, &walk.json);
  json_key(&walk.json, "modules");
  json_open(&walk.json, '[');
  int error = debug_store_list(request->service->parts.debug, on_module, &walk);
  json_close(&walk.json, ']');
  if (error < 0)
    answer_problem(&request->answer, 500, NULL, "the list cannot be read: %s", strerror(-error));
  else
    answer_end_json(&request->answer, &walk.json);
}

static int on_known_file(void *context, const struct debug_known *file) {
  struct json *json = context;
  char id[2 * LIMIT_MODULE_ID_BYTES + 1], sha256[2 * SHA256_BYTES + 1];
  if (json->is_full) return LISTED_ALL;
  hex_text_print(file->id, id, sizeof id);
  hex_text_print(span_of(file->sha256, SHA256_BYTES), sha256, sizeof sha256);
  json_open(json, '{');
  json_key_string(json, "build_id", id);
  json_key_string(json, "sha256", sha256);
  json_key_uint(json, "bytes", file->bytes);
  json_key_string(json, "quality", debug_quality_name(file->quality));
  json_key(json, "seen");
  json_bool(json, file->is_seen);
  json_close(json, '}');
  return 0;
}

void api_debug_files(struct request *request) {
  struct json json;
  answer_begin_json(&request->answer, &json);
  json_key(&json, "files");
  json_open(&json, '[');
  int error = debug_store_list_files(request->service->parts.debug, on_known_file, &json);
  json_close(&json, ']');
  if (error < 0)
    answer_problem(&request->answer, 500, NULL, "the list cannot be read: %s", strerror(-error));
  else
    answer_end_json(&request->answer, &json);
}

/* Finds the received bytes of UPLOAD or, if it has no hash, of any file of its module. */
static void find_sent(const struct request *request, const struct upload_words *upload,
                      struct debug_sent *ret) {
  struct debug_store *debug = request->service->parts.debug;
  struct debug_file file;
  struct span id = span_of(upload->id.bytes, upload->id.len);
  debug_sent_find(debug, id, span_of(upload->sha256.bytes, upload->sha256.len), ret);
  if (ret->bytes == 0 && upload->sha256.len == 0 && debug_store_find(debug, NULL, id, &file) == 0)
    *ret = (struct debug_sent){file.bytes, true, file.quality};
}

void api_debug_head(struct request *request) {
  struct upload_words upload;
  struct debug_sent sent;
  char bytes[24];
  if (upload_words_parse(request, &upload) != 0) return;
  find_sent(request, &upload, &sent);
  if (sent.bytes == 0) {
    answer_problem(&request->answer, 404, NULL, "nothing of this file is here");
    return;
  }
  snprintf(bytes, sizeof bytes, "%" PRIu64, sent.bytes);
  request->answer.length = sent.bytes;
  answer_add_field(&request->answer, "Upload-Offset", bytes);
  answer_add_field(&request->answer, "Fleetprof-Quality", debug_quality_name(sent.quality));
}

/* Returns 409 if WHY reports a conflict with another file of the same build-id; else STATUS. */
static int conflict_or(struct request *request, int status, const char *why) {
  request->is_audited = rival_file_is_why(why);
  return request->is_audited ? 409 : status;
}

/* Answers that a complete file could not be read because of a fault of this machine. It is read
   later; sending it again retries at once. */
static void answer_unread(struct request *request, int error) {
  answer_problem(&request->answer, 503, NULL,
                 "the file is here, but cannot be read now, and is read later: %s",
                 strerror(-error));
  answer_add_field(&request->answer, "Retry-After", "5");
}

/* Has the symbols of a complete file read, and answers with their quality. */
static void answer_whole(struct request *request, const struct upload_words *upload) {
  struct service *service = request->service;
  struct span id = span_of(upload->id.bytes, upload->id.len);
  struct debug_file file = {0};
  int error = symbolizer_prepare(service->parts.symbolizer, NULL, id);
  if (error == 0) error = debug_store_find(service->parts.debug, NULL, id, &file);
  if (error != 0 && error != -EBADMSG && error != -ENOENT) {
    answer_unread(request, error);
    return;
  }
  if (error != 0) {
    char why[256] = "";
    if (debug_store_judge(service->parts.debug, NULL, id, why, sizeof why) != -EBADMSG)
      snprintf(why, sizeof why, "%s", strerror(-error));
    answer_problem(&request->answer, conflict_or(request, 422, why), NULL,
                   "the file is refused: %s", why);
    return;
  }
  struct json json;
  answer_begin_json(&request->answer, &json);
  json_key_string(&json, "build_id", request->argument);
  json_key_uint(&json, "bytes", upload->total);
  json_key(&json, "complete");
  json_bool(&json, true);
  json_key_string(&json, "quality", debug_quality_name(file.quality));
  answer_end_json(&request->answer, &json);
  request->answer.status = 201;
}

static void answer_part(struct request *request, const struct upload_words *upload) {
  struct json json;
  answer_begin_json(&request->answer, &json);
  json_key_string(&json, "build_id", request->argument);
  json_key_uint(&json, "bytes", upload->offset + request->body_len);
  json_key(&json, "complete");
  json_bool(&json, false);
  answer_end_json(&request->answer, &json);
  request->answer.status = 202;
}

/* Answers with the offset to resume from: another client may have sent more meanwhile. */
static void answer_elsewhere(struct request *request, const struct upload_words *upload,
                             const char *why) {
  struct debug_sent sent;
  char bytes[24];
  find_sent(request, upload, &sent);
  answer_problem(&request->answer, 409, "offset", "the upload goes on elsewhere: %s", why);
  snprintf(bytes, sizeof bytes, "%" PRIu64, sent.bytes);
  answer_add_field(&request->answer, "Upload-Offset", bytes);
}

static void answer_refusal(struct request *request, int error, const char *why) {
  int status = error == -EBADMSG ? 400 : error == -EOVERFLOW ? 413 : error == -ENOSPC ? 507 : 500;
  answer_problem(&request->answer, conflict_or(request, status, why), NULL,
                 "the file is not taken: %s", *why ? why : strerror(-error));
}

void api_debug_put(struct request *request) {
  struct upload_words upload;
  char why[256] = "";
  if (upload_words_parse(request, &upload) != 0) return;
  struct debug_piece piece = {.id = span_of(upload.id.bytes, upload.id.len),
                              .offset = upload.offset + request->body_done,
                              .total = upload.total,
                              .sha256 = span_of(upload.sha256.bytes, upload.sha256.len),
                              .bytes = span_of(request->piece, request->piece_len)};
  int written = debug_store_write(request->service->parts.debug, &piece, why, sizeof why);
  bool is_last = request->body_done + request->piece_len == request->body_len;
  if (written == -ESPIPE)
    answer_elsewhere(request, &upload, why);
  else if (written < 0)
    answer_refusal(request, written, why);
  else if (written == 1)
    answer_whole(request, &upload);
  else if (is_last)
    answer_part(request, &upload);
  else
    request->wants_more = true;
}
