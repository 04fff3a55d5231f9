/* SPDX-License-Identifier: Apache-2.0 */
/* Sends false requests to the daemon at SOCKET. About its own program it claims impossible rates,
   samplers and CPU times. It also claims to own STRANGER, another user's process. The daemon must
   reject each false request and accept the true ones between them.

     liar SOCKET STRANGER     prints the number of lies, or the accepted lie and exits with 1 */
#include "intake/intake_client.h"
#include "ring/ring_format.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMEOUT_MS = 5000, HZ_99 = 99000, OWN = -100, STRANGERS = -101 };
#define SECOND_NS 1000000000ULL

struct word {
  const char *what;
  struct intake_request request; /* kind, and the false fields */
};

static const struct word notes[] = {
    {"no rate at all", {.pid = OWN, .asked_mhz = 1, .sampler = "timer"}},
    {"4 MHz", {.pid = OWN, .asked_mhz = UINT32_MAX, .sampler = "timer"}},
    {"a little too fast", {.pid = OWN, .asked_mhz = INTAKE_RATE_MHZ_MAX + 1, .sampler = "none"}},
    {"a sampler without an end", {.pid = OWN, .sampler = "timertimertimert"}},
    {"an unknown sampler", {.pid = OWN, .sampler = "magic"}},
    {"perf, by its word alone", {.pid = OWN, .sampler = "perf"}},
    {"an unknown collect mode", {.pid = OWN, .sampler = "timer", .collect = 99}},
    {"an unknown clock", {.pid = OWN, .sampler = "timer", .clock = 99}},
    {"a stranger's program", {.pid = STRANGERS, .sampler = "timer"}},
    {"the first process", {.pid = 1, .sampler = "timer"}},
    {"no process", {.pid = 0, .sampler = "timer"}},
    {"all processes", {.pid = -1, .sampler = "timer"}},
};

static const struct word flushes[] = {
    {"for ever", {.pid = OWN, .user_ns = UINT64_MAX}},
    {"for ever in the kernel", {.pid = OWN, .system_ns = UINT64_MAX}},
    {"a sum that wraps", {.pid = OWN, .user_ns = 1ULL << 63, .system_ns = (1ULL << 63) + 1}},
    {"146 years", {.pid = OWN, .user_ns = 1ULL << 62}},
    {"a day", {.pid = OWN, .user_ns = 86400 * SECOND_NS}},
    {"the end of a stranger's program", {.pid = STRANGERS, .user_ns = SECOND_NS}},
};

static const char *socket_path;
static pid_t own, stranger;

/* Returns the kind of the answer; 0: there was none. */
static unsigned say(const struct intake_request *words, enum intake_kind kind) {
  struct intake_request request;
  struct intake_answer answer = {.fd = -1};
  struct intake_call call = {.request = &request, .timeout_ms = TIMEOUT_MS};
  int socket;
  intake_client_request(&request, kind);
  request.pid = words->pid == OWN ? own : words->pid == STRANGERS ? stranger : words->pid;
  request.asked_mhz = words->asked_mhz;
  request.user_ns = words->user_ns;
  request.system_ns = words->system_ns;
  request.collect = words->collect;
  request.clock = words->clock;
  memcpy(request.sampler, words->sampler, sizeof request.sampler);
  memcpy(request.service, "liar", 5);
  if (intake_client_connect(socket_path, TIMEOUT_MS, &socket) != 0) return 0;
  int error = intake_client_call(socket, &call, &answer);
  close(socket);
  return error ? 0 : answer.reply.kind;
}

static void must_be(unsigned wanted, unsigned got, const char *what) {
  if (got == wanted) return;
  printf("%s: answer %u instead of %u\n", what, got, wanted);
  if (own > 0) kill(own, SIGKILL);
  exit(1);
}

int main(int argc, char **argv) {
  const struct intake_request truth = {.pid = OWN, .asked_mhz = HZ_99, .sampler = "timer"};
  const struct intake_request end = {.pid = OWN, .user_ns = SECOND_NS / 100};
  unsigned note_count = sizeof notes / sizeof *notes;
  unsigned flush_count = sizeof flushes / sizeof *flushes;
  if (argc != 3) return 2;
  socket_path = argv[1];
  stranger = (pid_t)strtol(argv[2], NULL, 10);
  own = fork();
  if (own == 0)
    for (;;) pause();
  for (unsigned i = 0; i < note_count; i++)
    must_be(INTAKE_REFUSED, say(&notes[i].request, INTAKE_NOTE), notes[i].what);
  must_be(INTAKE_ACCEPTED, say(&truth, INTAKE_NOTE), "the truth of a program");
  kill(own, SIGKILL);
  waitpid(own, NULL, 0);
  for (unsigned i = 0; i < flush_count; i++)
    must_be(INTAKE_REFUSED, say(&flushes[i].request, INTAKE_FLUSH), flushes[i].what);
  must_be(INTAKE_FLUSHED, say(&end, INTAKE_FLUSH), "the truth of its end");
  printf("%u lies were refused\n", note_count + flush_count);
  return 0;
}
