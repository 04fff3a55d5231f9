/* SPDX-License-Identifier: Apache-2.0 */
/* The same facts as the text output (main.c), written at the end: the object is complete or
   missing. */
#include "outcome.h"

#include "common/buf.h"
#include "common/hex_text.h"
#include "common/json.h"
#include "common/output_form.h"
#include "upload.h"

static void write_id(struct json *json, const struct found_file *file) {
  char text[2 * LIMIT_MODULE_ID_BYTES + 1];
  hex_text_print(span_of(file->id, file->id_len), text, sizeof text);
  json_key_string(json, "id", text);
}

static void write_files(const struct upload *upload, struct json *json) {
  static const char *const verdicts[] = {[VERDICT_SEND] = "send",
                                         [VERDICT_KNOWN] = "known",
                                         [VERDICT_COVERED] = "covered",
                                         [VERDICT_USELESS] = "without_build_id"};
  json_key(json, "files");
  json_open(json, '[');
  for (uint32_t i = 0; i < upload->found.count; i++) {
    const struct found_file *file = &upload->found.files[i];
    json_open(json, '{');
    json_key_string(json, "name", file->name);
    write_id(json, file);
    json_key_uint(json, "bytes", file->bytes);
    json_key_string(json, "verdict", verdicts[upload->plan.verdicts[i]]);
    json_close(json, '}');
  }
  json_close(json, ']');
}

/* For --require-all: files that boards run without names. */
static void write_nameless(const struct upload *upload, struct json *json) {
  json_key(json, "nameless");
  json_open(json, '[');
  for (uint32_t i = 0; i < upload->plan.nameless_count; i++)
    json_string(json, upload->found.files[upload->plan.nameless[i].file].name);
  json_close(json, ']');
}

static void write_sources(const struct bundler_counts *counts, struct json *json) {
  json_key(json, "sources");
  json_open(json, '{');
  json_key_uint(json, "sent", counts->sent);
  json_key_uint(json, "known", counts->known);
  json_key_uint(json, "empty", counts->empty);
  json_key_uint(json, "packed", counts->packed);
  json_key_uint(json, "missing", counts->missing);
  json_key_uint(json, "forbidden", counts->forbidden);
  json_key_uint(json, "large", counts->large);
  json_close(json, '}');
}

int outcome_write(const struct upload *upload) {
  const struct plan *plan = &upload->plan;
  struct buf text = {0};
  struct json json;
  json_init(&json, &text, SIZE_MAX);
  json_open(&json, '{');
  json_key(&json, "dry_run");
  json_bool(&json, upload->settings.is_dry_run);
  json_key_uint(&json, "found", upload->found.count);
  json_key_uint(&json, "to_send", plan->counts[VERDICT_SEND]);
  json_key_uint(&json, "to_send_bytes", plan->send_bytes);
  json_key_uint(&json, "sent", upload->sent);
  json_key_uint(&json, "failed", upload->failed);
  if (!upload->settings.is_dry_run && upload->found.count > 0) {
    json_key(&json, "seen");
    json_bool(&json, !upload->is_unseen);
  }
  json_key_uint(&json, "resumed_bytes", upload->resumed_bytes);
  json_key_uint(&json, "passed_over", upload->passed_over);
  json_key_uint(&json, "unowned_lists", upload->unowned_lists);
  json_key_uint(&json, "unowned_splits", upload->unowned_splits);
  write_files(upload, &json);
  write_nameless(upload, &json);
  if (upload->bundler != NULL && !upload->settings.is_dry_run)
    write_sources(bundler_count(upload->bundler), &json);
  json_close(&json, '}');
  int error = output_form_write(&text);
  buf_fini(&text);
  return error;
}
