/* SPDX-License-Identifier: Apache-2.0 */
/* A file goes in requests of at most 64 MiB, with the hash of all of it, so that a piece is never
   put behind another file's.  Where a long upload was broken off the collector is asked how far it
   got.  A collector that is busy, or gone for a moment, is asked again a few times. */
#include "send.h"

#include "cli/field.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
  RESUME_BYTES_MIN = 4 << 20, /* less is sent again sooner than it is asked for */
  TRIES_MAX = 5,
  BUSY_TRIES_MAX = 60,
  PAUSE_S = 2,
  SHA256_BYTES = 32,
};
#define REQUEST_BYTES_MAX (UINT64_C(64) << 20)

struct part {
  const struct send *send;
  int fd;
  uint64_t offset;
};

static long read_part(void *context, uint64_t offset, void *to, size_t room) {
  const struct part *part = context;
  ssize_t got;
  do got = pread(part->fd, to, room, (off_t)(part->offset + offset));
  while (got < 0 && errno == EINTR);
  return (long)got;
}

static void on_sent(void *context, uint64_t sent, uint64_t body_len) {
  (void)body_len;
  const struct part *part = context;
  if (part->send->on_progress != NULL)
    part->send->on_progress(part->send->context, part->offset + sent);
}

static void print_hex(struct buf *ret, const uint8_t *bytes, size_t len) {
  for (size_t i = 0; i < len; i++) buf_printf(ret, "%02x", bytes[i]);
}

/* The collector's own words, where there are some. */
static void explain(const struct fetch_answer *answer, char why[SEND_WHY_BYTES]) {
  cJSON *problem = cJSON_ParseWithLength((const char *)answer->body.data, answer->body.len);
  const char *detail = field_text(problem, "detail");
  if (*detail != '\0')
    snprintf(why, SEND_WHY_BYTES, "%s", detail);
  else
    snprintf(why, SEND_WHY_BYTES, "the collector answers with status %d", answer->status);
  cJSON_Delete(problem);
}

static void pause_a_while(void) {
  nanosleep(&(struct timespec){.tv_sec = PAUSE_S}, NULL);
}

/* Makes CALL, again while the collector is busy or away for a moment. */
static int call_patiently(const struct send *send, const struct fetch_call *call,
                          struct fetch_answer *ret, char why[SEND_WHY_BYTES]) {
  int failures = 0;
  for (int tries = 1;; tries++) {
    int error = fetch_call(send->fetch, call, ret);
    if (error == -ECANCELED) {
      snprintf(why, SEND_WHY_BYTES, "%s", fetch_why(send->fetch));
      return -EBADMSG; /* the file cannot be read */
    }
    if (error == 0 && (ret->status != 503 || tries == BUSY_TRIES_MAX)) return 0;
    if (error == 0) fetch_answer_fini(ret);
    if (error != 0 && ++failures == TRIES_MAX) {
      snprintf(why, SEND_WHY_BYTES, "no answer: %s", fetch_why(send->fetch));
      return -ECONNREFUSED;
    }
    pause_a_while();
  }
}

/* How much of FILE, or of another file of its module, an upload that was broken off has left. */
static uint64_t find_offset(const struct send *send, const struct found_file *file) {
  struct fetch_answer answer = {0};
  struct buf target = {0};
  char text[24] = "", quality[16] = "";
  buf_append_string(&target, "/api/v1/debug/");
  print_hex(&target, file->id, file->id_len);
  const struct fetch_call call = {.method = "HEAD", .target = buf_text(&target)};
  uint64_t offset = 0;
  if (call.target != NULL && fetch_call(send->fetch, &call, &answer) == 0 && answer.status == 200 &&
      fetch_field(&answer, "Upload-Offset", text, sizeof text) == 0 &&
      fetch_field(&answer, "Fleetprof-Quality", quality, sizeof quality) == 0 &&
      strcmp(quality, "none") == 0) /* else it is a whole file's size */
    offset = strtoull(text, NULL, 10);
  fetch_answer_fini(&answer);
  buf_fini(&target);
  return offset < file->bytes ? offset : 0;
}

/* Sends what follows OFFSET, as much as one request takes.  Returns 0 with the status in
   RET_STATUS. */
static int send_part(const struct send *send, const struct found_file *file, struct part *part,
                     int *ret_status, char why[SEND_WHY_BYTES]) {
  struct fetch_answer answer = {0};
  struct buf target = {0};
  uint64_t left = file->bytes - part->offset;
  buf_append_string(&target, "/api/v1/debug/");
  print_hex(&target, file->id, file->id_len);
  buf_printf(&target, "?offset=%" PRIu64 "&total=%" PRIu64 "&sha256=", part->offset, file->bytes);
  print_hex(&target, file->sha256, SHA256_BYTES);
  const struct fetch_call call = {.method = "PUT",
                                  .target = buf_text(&target),
                                  .body_len = left < REQUEST_BYTES_MAX ? left : REQUEST_BYTES_MAX,
                                  .read_body = read_part,
                                  .on_progress = on_sent,
                                  .context = part};
  int error = call.target != NULL ? call_patiently(send, &call, &answer, why) : -ENOMEM;
  if (error == 0) {
    *ret_status = answer.status;
    if (answer.status >= 300) explain(&answer, why);
    part->offset += call.body_len;
  }
  fetch_answer_fini(&answer);
  buf_fini(&target);
  return error;
}

int send_file(const struct send *send, const struct found_file *file, int fd,
              char why[SEND_WHY_BYTES]) {
  struct part part = {.send = send, .fd = fd};
  if (file->bytes >= RESUME_BYTES_MIN) part.offset = find_offset(send, file);
  const uint64_t offset = part.offset;
  bool is_resumed = offset > 0;
  while (part.offset < file->bytes) {
    int status = 0;
    int error = send_part(send, file, &part, &status, why);
    if (error != 0) return error;
    if (status == 401 || status == 403) return -EACCES;
    if (status >= 300 && !is_resumed) return -EBADMSG;
    if (is_resumed && status < 300) *send->resumed_bytes += offset;
    if (status >= 300) part.offset = 0; /* what was there was another file's, or is gone */
    is_resumed = false;
  }
  return 0;
}
