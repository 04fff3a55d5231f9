/* SPDX-License-Identifier: Apache-2.0 */
/* A file is sent in requests of at most 64 MiB.  Each has the hash of the whole file, so that a
   piece is never appended to another file.

   The collector is queried for its offset after an interrupted long upload.  It is also queried if
   the last answer timed out, or if it rejects the offset of a piece because another client sends
   the same file.  If the collector is busy or briefly unreachable, requests are retried. */
#include "send.h"

#include "cli/api_client.h"
#include "cli/field.h"
#include "common/clock.h"
#include "common/hex_text.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
  RESUME_BYTES_MIN = 4 << 20, /* sending less again is faster than a query */
  TRIES_MAX = 5,
  BUSY_TRIES_MAX = 60,
  PAUSE_S = 2,
  RESTARTS_MAX = 5, /* number of changes to another offset than the end of the last piece */
};
#define READ_NS_MAX (600 * NS_PER_SECOND) /* for the collector's parser and its queue */
#define REQUEST_BYTES_MAX (UINT64_C(64) << 20)

struct part {
  const struct send *send;
  const struct send_what *what;
  uint64_t offset;
};

/* The length of one request. */
static uint64_t part_len(const struct part *part) {
  uint64_t left = part->what->bytes - part->offset;
  return left < REQUEST_BYTES_MAX ? left : REQUEST_BYTES_MAX;
}

static long read_part(void *context, uint64_t offset, void *to, size_t room) {
  const struct part *part = context;
  const struct send_what *what = part->what;
  uint64_t at = part->offset + offset;
  if (at < what->head.len) {
    size_t len = what->head.len - at < room ? what->head.len - at : room;
    memcpy(to, what->head.data + at, len);
    return (long)len;
  }
  ssize_t got;
  do got = pread(what->fd, to, room, (off_t)(at - what->head.len));
  while (got < 0 && errno == EINTR);
  return (long)got;
}

static void on_sent(void *context, uint64_t sent, uint64_t body_len) {
  (void)body_len;
  const struct part *part = context;
  if (part->send->on_progress != NULL)
    part->send->on_progress(part->send->context, part->offset + sent);
}

/* Copies the collector's error message, if any. */
static void explain(const struct fetch_answer *answer, char why[SEND_WHY_BYTES]) {
  cJSON *problem = cJSON_ParseWithLength((const char *)answer->body.data, answer->body.len);
  const char *detail = field_text(problem, "detail");
  if (*detail != '\0')
    snprintf(why, SEND_WHY_BYTES, "%s%s", detail, api_token_hint(answer->status));
  else
    snprintf(why, SEND_WHY_BYTES, "the collector answers with status %d", answer->status);
  cJSON_Delete(problem);
}

static void pause_a_while(void) {
  nanosleep(&(struct timespec){.tv_sec = PAUSE_S}, NULL);
}

/* Makes CALL, and retries while the collector is busy or briefly unreachable. */
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

/* The collector's state of an upload. */
struct there {
  uint64_t offset;
  bool is_whole; /* and parsed */
  char quality[SEND_QUALITY_BYTES];
};

static void print_target(struct buf *ret, const struct send_what *what) {
  buf_append_string(ret, "/api/v1/debug/");
  hex_text_append(what->id, ret);
  buf_printf(ret, "%s?total=%" PRIu64 "&sha256=", what->kind, what->bytes);
  hex_text_append(span_of(what->sha256, SEND_SHA256_BYTES), ret);
}

/* Queries how much of WHAT the collector has; nothing if there is no answer. */
static void ask(const struct send *send, const struct send_what *what, struct there *ret) {
  struct fetch_answer answer = {0};
  struct buf target = {0};
  char offset[24] = "";
  *ret = (struct there){.offset = 0};
  print_target(&target, what);
  const struct fetch_call call = {.method = "HEAD", .target = buf_text(&target)};
  if (call.target != NULL && fetch_call(send->fetch, &call, &answer) == 0 && answer.status == 200 &&
      fetch_field(&answer, "Upload-Offset", offset, sizeof offset) == 0 &&
      fetch_field(&answer, "Fleetprof-Quality", ret->quality, sizeof ret->quality) == 0) {
    ret->offset = strtoull(offset, NULL, 10);
    ret->is_whole = strcmp(ret->quality, "none") != 0 && strcmp(ret->quality, "bad") != 0;
    if (!ret->is_whole && ret->offset >= what->bytes) ret->offset = 0; /* being read, or bad */
  }
  fetch_answer_fini(&answer);
  buf_fini(&target);
}

/* Copies the collector's rating of a complete file. */
static void take_quality(const struct fetch_answer *answer, char quality[SEND_QUALITY_BYTES]) {
  cJSON *root = cJSON_ParseWithLength((const char *)answer->body.data, answer->body.len);
  snprintf(quality, SEND_QUALITY_BYTES, "%s", field_text(root, "quality"));
  cJSON_Delete(root);
}

struct reply {
  int status;
  bool is_elsewhere; /* the upload continues at another offset */
  char quality[SEND_QUALITY_BYTES];
};

/* Sends one request from PART's offset.  Returns 0 with the answer. */
static int send_part(const struct part *part, struct reply *ret, char why[SEND_WHY_BYTES]) {
  struct fetch_answer answer = {0};
  char offset[24];
  struct buf target = {0};
  print_target(&target, part->what);
  buf_printf(&target, "&offset=%" PRIu64, part->offset);
  const struct fetch_call call = {.method = "PUT",
                                  .target = buf_text(&target),
                                  .body_len = part_len(part),
                                  .read_body = read_part,
                                  .on_progress = on_sent,
                                  .context = (void *)(uintptr_t)part};
  int error = call.target != NULL ? call_patiently(part->send, &call, &answer, why) : -ENOMEM;
  if (error == 0) {
    *ret = (struct reply){.status = answer.status};
    ret->is_elsewhere =
        answer.status == 409 && fetch_field(&answer, "Upload-Offset", offset, sizeof offset) == 0;
    if (answer.status >= 300)
      explain(&answer, why);
    else
      take_quality(&answer, ret->quality);
  }
  fetch_answer_fini(&answer);
  buf_fini(&target);
  return error;
}

/* The collector may parse a complete file for longer than a request may take: waits until it is
   done. */
static void wait_for_reader(const struct part *part, struct there *ret) {
  const uint64_t start_ns = clock_monotonic_ns();
  do {
    pause_a_while();
    ask(part->send, part->what, ret);
  } while (!ret->is_whole && clock_monotonic_ns() - start_ns < READ_NS_MAX);
}

/* Handles the rejection REPLY of a piece.  Returns whether to continue, with the offset in RET. */
static bool find_where(const struct part *part, const struct reply *reply, struct there *ret) {
  if (reply->is_elsewhere) {
    ask(part->send, part->what, ret);
    return true;
  }
  if (reply->status != 504) return false;
  wait_for_reader(part, ret);
  return ret->is_whole;
}

int send_bytes(const struct send *send, const struct send_what *what,
               char quality[SEND_QUALITY_BYTES], char why[SEND_WHY_BYTES]) {
  struct part part = {.send = send, .what = what};
  struct there there = {.offset = 0};
  struct reply reply = {.status = 0};
  if (what->bytes >= RESUME_BYTES_MIN || !what->is_listed) ask(send, what, &there);
  part.offset = there.offset;
  *send->resumed_bytes += there.is_whole ? 0 : there.offset;
  for (int restarts = 0; !there.is_whole && part.offset < what->bytes;) {
    int error = send_part(&part, &reply, why);
    if (error != 0) return error;
    if (reply.status < 300) {
      part.offset += part_len(&part);
      continue;
    }
    if (reply.status == 401 || reply.status == 403) return -EACCES;
    if (restarts++ == RESTARTS_MAX || !find_where(&part, &reply, &there)) return -EBADMSG;
    part.offset = there.offset;
  }
  snprintf(quality, SEND_QUALITY_BYTES, "%s", there.is_whole ? there.quality : reply.quality);
  return there.is_whole ? 1 : 0;
}
