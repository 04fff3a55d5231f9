/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a worker's result into the store's records: the file's module, its quality, and the reasons
   reported to its senders. */
#include "debug_catalogue.h"
#include "debug_folder.h"
#include "debug_store_parts.h"

#include "common/hex_text.h"

#include <errno.h>
#include <stdio.h>

/* Writes to WHY the reason why FILE cannot be module ID's. */
static int judge(const struct catalogue_file *file, struct span id, char *why, size_t why_len) {
  char text[2 * LIMIT_MODULE_ID_BYTES + 1];
  why[0] = '\0';
  if (file->quality == DEBUG_NONE) return 0;
  if (file->quality == DEBUG_BAD) {
    snprintf(why, why_len, "%s", file->reason);
    return -EBADMSG;
  }
  if (catalogue_is_file_of(file, id)) return 0;
  hex_text_print(span_of(file->build_id, file->build_id_len), text, sizeof text);
  snprintf(why, why_len, "it is another module's file: %s", text);
  return -EBADMSG;
}

int debug_store_judge(struct debug_store *store, const char *board, struct span id, char *why,
                      size_t why_len) {
  struct catalogue_file file;
  sqlite3 *db = debug_store_lock(store);
  int error = catalogue_latest(db, board != NULL ? board : "", id, &file);
  debug_store_unlock(store);
  return error != 0 ? error : judge(&file, id, why, why_len);
}

int debug_store_set_identity(struct debug_store *store, const uint8_t sha256[32],
                             struct span build_id) {
  char text[2 * LIMIT_MODULE_ID_BYTES + 1], reason[LIMIT_VALUE_BYTES];
  struct span key = span_of(sha256, 32);
  if (build_id.len == 0) build_id = key;
  hex_text_print(build_id, text, sizeof text);
  snprintf(reason, sizeof reason, "the file sent is another module's: %s", text);
  sqlite3 *db = debug_store_lock(store);
  debug_store_changed(store, sha256); /* an older reader may have assigned it to another module */
  int error = catalogue_set_identity(db, key, build_id);
  if (error == 0)
    error =
        catalogue_refuse_senders(db, key, build_id, reason, catalogue_now_s() + DEBUG_NO_BETTER_S);
  debug_store_changed(store, sha256);
  debug_store_unlock(store);
  return error;
}

int debug_store_adopt_identity(struct debug_store *store, const uint8_t sha256[32]) {
  uint8_t id[LIMIT_MODULE_ID_BYTES];
  struct span module = {.data = id};
  sqlite3 *db = debug_store_lock(store);
  int error = catalogue_first_module(db, span_of(sha256, 32), id, &module.len);
  debug_store_unlock(store);
  return error != 0 ? error : debug_store_set_identity(store, sha256, module);
}

int debug_store_set_quality(struct debug_store *store, const uint8_t sha256[32],
                            enum debug_quality quality, const char *reason) {
  struct span key = span_of(sha256, 32);
  sqlite3 *db = debug_store_lock(store);
  int error = catalogue_set_quality(db, key, quality, reason);
  if (error == 0 && !debug_quality_is_whole(quality))
    error = catalogue_refuse_senders(db, key, span_of(NULL, 0), reason,
                                     catalogue_now_s() + DEBUG_NO_BETTER_S);
  if (quality == DEBUG_BAD) debug_folder_remove(debug_store_folder(store), sha256);
  debug_store_changed(store, sha256);
  debug_store_unlock(store);
  return error;
}
