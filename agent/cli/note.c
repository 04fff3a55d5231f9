/* SPDX-License-Identifier: Apache-2.0 */
/* The launch record gives the daemon the program's pid before any agent connects.  So the daemon's
   status can show which sampler was intended, and why it is not a better one.  That includes
   programs in which the agent never started, and programs that have ended.  A rejection means that
   sampling is forbidden (the kill switch).

   All requests that `run` sends before the program starts share one deadline, kept in the choice.
   A hung daemon delays the program by that time in total, whatever the number of requests. */
#include "note.h"
#include "common/clock.h"
#include "daemon_call.h"
#include "request_fill.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { AGAIN_MS = 50 };

uint32_t note_left_ms(const struct sampling_choice *choice) {
  uint64_t now_ns = clock_monotonic_ns();
  return now_ns < choice->deadline_ns ? (uint32_t)((choice->deadline_ns - now_ns) / NS_PER_MS) : 0;
}

/* A killed worker is replaced within a second, and the new worker lacks the old worker's
   records. */
static int call_until_heard(struct sampling_choice *choice, const struct intake_request *request,
                            struct intake_answer *ret) {
  static const struct timespec pause = {.tv_nsec = AGAIN_MS * NS_PER_MS};
  for (;;) {
    struct intake_call call = {.request = request, .timeout_ms = note_left_ms(choice)};
    if (call.timeout_ms == 0) return -ETIMEDOUT;
    int error = daemon_call(choice->socket, &call, ret);
    if (error != -ECONNRESET || note_left_ms(choice) <= AGAIN_MS) return error;
    nanosleep(&pause, NULL);
  }
}

int note_sampler(struct sampling_choice *choice, const char *sampler) {
  struct intake_request request;
  struct intake_answer answer;
  request_fill(&request, INTAKE_NOTE, choice);
  snprintf(request.sampler, sizeof request.sampler, "%s", sampler);
  int error = call_until_heard(choice, &request, &answer);
  if (error != 0) return error;
  if (answer.fd >= 0) close(answer.fd);
  choice->daemon = answer.daemon;
  if (answer.reply.kind != INTAKE_REFUSED) return 0;
  snprintf(choice->why, sizeof choice->why, "%s", answer.reply.why);
  return -EACCES;
}
