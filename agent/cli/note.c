/* SPDX-License-Identifier: Apache-2.0 */
/* The note tells the daemon the program's pid before any agent does, so that its status can say
   which sampler was meant and why it was not a better one: also for a program in which the agent
   never started, and for one that has ended.  A refusal says that nothing is to be sampled (the
   kill switch).

   All that `run` asks before the program starts shares one deadline, kept in the choice: a daemon
   that hangs costs the program that much and no more, however many questions there were. */
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

/* A worker that was killed is back within a second, and knows no note of the one before. */
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
