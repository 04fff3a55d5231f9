/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's accounting of the ended process tree (wait4) is sent to the daemon.  CPU time
   without samples becomes [kernel] and [unsampled], so the total is right whatever was missed.

   If the worker is killed, the pending request is lost.  The supervisor soon starts another worker,
   and the request is repeated until the timeout.  Repeats are harmless: the daemon identifies the
   program by its pid.  A newly started daemon would answer from its own records, which lack this
   program. */
#include "flush.h"
#include "common/clock.h"
#include "daemon_call.h"
#include "request_fill.h"

#include <errno.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

enum {
  GRACE_MS = 500, /* for the daemon's answer at the deadline to arrive */
  AGAIN_MS = 100,
};

static uint64_t ns_of(const struct timeval *time) {
  return (uint64_t)time->tv_sec * NS_PER_SECOND + (uint64_t)time->tv_usec * 1000;
}

static uint64_t left_ms(uint64_t deadline_ns) {
  uint64_t now = clock_monotonic_ns();
  return now < deadline_ns ? (deadline_ns - now) / NS_PER_MS : 0;
}

/* True if DAEMON has no record of the program: it is not the daemon that accepted the program. */
static bool is_another(const struct sampling_choice *choice, pid_t daemon) {
  return choice->daemon != 0 && daemon != 0 && daemon != choice->daemon;
}

/* Sends one request. */
static int ask(const struct sampling_choice *choice, struct intake_request *request,
               uint64_t deadline_ns, struct intake_reply *ret) {
  struct intake_answer answer;
  request->deadline_ms = left_ms(deadline_ns);
  struct intake_call call = {.request = request,
                             .timeout_ms = (uint32_t)request->deadline_ms + GRACE_MS};
  int error = daemon_call(choice->socket, &call, &answer);
  if (error != 0) return error;
  if (answer.fd >= 0) close(answer.fd);
  if (answer.reply.kind != INTAKE_FLUSHED && answer.reply.kind != INTAKE_REFUSED) return -EBADMSG;
  *ret = answer.reply;
  return is_another(choice, answer.daemon) ? -ESTALE : 0;
}

static int is_gone(int error) {
  return error == -ECONNRESET || error == -ECONNREFUSED || error == -ENOENT;
}

int flush(const struct sampling_choice *choice, const struct rusage *usage,
          struct intake_reply *ret) {
  uint64_t timeout_ns = choice->settings->options.flush_timeout_ns;
  uint64_t longest_ns = (uint64_t)INT32_MAX * NS_PER_MS;
  uint64_t deadline_ns = clock_monotonic_ns() + (timeout_ns < longest_ns ? timeout_ns : longest_ns);
  struct intake_request request;
  request_fill(&request, INTAKE_FLUSH, choice);
  request.user_ns = ns_of(&usage->ru_utime);
  request.system_ns = ns_of(&usage->ru_stime);
  for (;;) {
    int error = ask(choice, &request, deadline_ns, ret);
    if (!is_gone(error) || left_ms(deadline_ns) <= AGAIN_MS) return error;
    struct timespec pause = {.tv_nsec = AGAIN_MS * (long)NS_PER_MS};
    nanosleep(&pause, NULL);
  }
}
