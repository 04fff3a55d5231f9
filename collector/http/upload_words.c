/* SPDX-License-Identifier: Apache-2.0 */
#include "upload_words.h"

#include "request.h"
#include "selection.h"

#include <errno.h>

enum { SHA256_BYTES = 32 };

int upload_words_parse(struct request *request, struct upload_words *ret) {
  struct upload_words upload = {.offset = 0};
  const char *offset = parameters_find(&request->parameters, "offset");
  const char *total = parameters_find(&request->parameters, "total");
  const char *sha256 = parameters_find(&request->parameters, "sha256");
  const char *fault = NULL;
  if (hex_id_parse(span_of_string(request->argument), &upload.id) != 0)
    fault = "build_id";
  else if (offset && selection_parse_count(offset, LIMIT_DEBUG_FILE_BYTES, &upload.offset) != 0)
    fault = "offset";
  else if (sha256 && (hex_id_parse(span_of_string(sha256), &upload.sha256) != 0 ||
                      upload.sha256.len != SHA256_BYTES))
    fault = "sha256";
  upload.total = upload.offset + request->body_len;
  if (fault == NULL && total &&
      (selection_parse_count(total, LIMIT_DEBUG_FILE_BYTES, &upload.total) != 0 ||
       upload.total < upload.offset + request->body_len))
    fault = "total";
  if (fault == NULL) {
    *ret = upload;
    return 0;
  }
  answer_problem(&request->answer, 400, fault,
                 strcmp(fault, "build_id") == 0 ? "%s: is not an even number of hexadecimal digits"
                 : strcmp(fault, "sha256") == 0
                     ? "%s: is not 64 hexadecimal digits"
                     : "%s: is not a number of bytes within the file, which may have 1 GiB",
                 fault);
  return -EINVAL;
}
