/* SPDX-License-Identifier: Apache-2.0 */
/* The oldest protocol there is for names, and the one that every vendor's tool can be made to
   speak.

   A translator may answer at once or keep everything until its input ends, so nobody can wait for
   the answer to one address before asking for the next, and nobody can write all before reading:
   both pipes are finite.  We write as it reads and read as it writes, at most OUTSTANDING_MAX
   addresses to one process, then close its input, which makes every translator speak.

   It is its author's program and not ours: it may die, hang, or print more than it was asked for.
   Each of that costs its names and a line on stderr, never the report. */
#include "translator.h"

#include "common/buf.h"
#include "proto/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  OUTSTANDING_MAX = 16384,
  TRIES_MAX = 2,
  READ_BYTES = 64 << 10,
  NOT_EXECUTABLE = 126, /* the shell's words for a command that cannot be run */
  NOT_FOUND = 127,
};

#define ANSWER_BYTES_MAX ((size_t)64 << 20)

struct child {
  pid_t pid;
  int in, out; /* our ends of its stdin and stdout; -1: closed */
};

/* The frames that one process is asked for. */
struct question {
  const struct translator *translator;
  const struct profile_module *module;
  const uint32_t *frames; /* numbers */
  uint32_t count;
};

bool translator_takes_module(const struct translator *translator) {
  return strstr(translator->command, "MODULE") != NULL;
}

_Noreturn static void be_translator(const struct question *question, int in, int out) {
  char id[2 * LIMIT_MODULE_ID_BYTES + 1] = "";
  for (size_t i = 0; i < question->module->id.len && i < LIMIT_MODULE_ID_BYTES; i++)
    snprintf(id + 2 * i, 3, "%02x", question->module->id.data[i]);
  setpgid(0, 0); /* so that all of a pipeline can be ended */
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  signal(SIGPIPE, SIG_DFL);
  setenv("MODULE", question->module->path, 1);
  setenv("BUILD_ID", id, 1);
  execl("/bin/sh", "sh", "-c", question->translator->command, (char *)NULL);
  _exit(127);
}

static void close_pair(int pair[2]) {
  close(pair[0]);
  close(pair[1]);
}

static int start(const struct question *question, struct child *ret) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0) return -errno;
  if (pipe2(out, O_CLOEXEC) != 0) {
    int error = -errno;
    close_pair(in);
    return error;
  }
  pid_t pid = fork();
  if (pid == 0) be_translator(question, in[0], out[1]);
  int error = -errno;
  close(in[0]);
  close(out[1]);
  if (pid < 0) {
    close(in[1]);
    close(out[0]);
    return error;
  }
  setpgid(pid, pid);
  fcntl(in[1], F_SETFL, O_NONBLOCK);
  fcntl(out[0], F_SETFL, O_NONBLOCK);
  *ret = (struct child){.pid = pid, .in = in[1], .out = out[0]};
  return 0;
}

static void close_input(struct child *child) {
  if (child->in >= 0) close(child->in);
  child->in = -1;
}

/* Ends what is left of CHILD.  Returns its exit status, -1 when it was killed. */
static int bury(struct child *child, bool is_done) {
  int status = 0;
  close_input(child);
  close(child->out);
  if (!is_done) kill(-child->pid, SIGKILL);
  while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void write_some(struct child *child, struct span *questions) {
  while (questions->len > 0) {
    ssize_t put = write(child->in, questions->data, questions->len);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (put < 0) break; /* it has heard enough; what it says is counted all the same */
    *questions = span_of(questions->data + put, questions->len - (size_t)put);
  }
  close_input(child);
}

/* Returns 1 at the end of its answers, 0, or -errno. */
static int read_some(const struct child *child, struct buf *answers) {
  uint8_t *at = buf_reserve(answers, READ_BYTES);
  if (at == NULL) return -ENOMEM;
  ssize_t got = read(child->out, at, READ_BYTES);
  if (got < 0) return errno == EAGAIN || errno == EINTR ? 0 : -errno;
  answers->len += (size_t)got;
  if (answers->len > ANSWER_BYTES_MAX) return -EOVERFLOW;
  return got == 0;
}

/* Writes QUESTIONS and reads ANSWERS until it has no more of them. */
static int talk(struct child *child, struct span questions, unsigned deadline_ms,
                struct buf *answers) {
  for (;;) {
    struct pollfd ready[2] = {{.fd = child->out, .events = POLLIN},
                              {.fd = child->in, .events = POLLOUT}};
    int count = poll(ready, 2, (int)deadline_ms);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -errno;
    if (count == 0) return -ETIMEDOUT;
    if (ready[1].revents != 0) write_some(child, &questions);
    if (ready[0].revents == 0) continue;
    int rc = read_some(child, answers);
    if (rc != 0) return rc > 0 ? 0 : rc;
  }
}

static void explain(int error, int status, const struct question *question, char *why) {
  if (error == -ETIMEDOUT)
    snprintf(why, TRANSLATOR_WHY_BYTES, "did nothing for %u s and was ended",
             question->translator->deadline_ms / 1000);
  else if (error == -ENOENT)
    snprintf(why, TRANSLATOR_WHY_BYTES, "cannot be run (status %d): check the command", status);
  else if (error == -EBADMSG && status != 0)
    snprintf(why, TRANSLATOR_WHY_BYTES, "ended with status %d", status);
  else if (error == -EBADMSG)
    snprintf(why, TRANSLATOR_WHY_BYTES,
             "answered %u addresses with lines that do not come out even (1, 2 or 3 for each)",
             question->count);
  else
    snprintf(why, TRANSLATOR_WHY_BYTES, "%s", strerror(-error));
}

/* One process, all frames of QUESTION. */
static int ask_once(const struct question *question, struct span addresses, struct arena *arena,
                    struct frame_name *ret, char *why) {
  struct buf answers = {0};
  struct child child = {.pid = 0, .in = -1, .out = -1};
  int error = start(question, &child), status = 0;
  if (error == 0) {
    error = talk(&child, addresses, question->translator->deadline_ms, &answers);
    status = bury(&child, error == 0);
  }
  const char *lines = error == 0 ? buf_text(&answers) : NULL;
  if (error == 0 && lines == NULL) error = -ENOMEM;
  if (error == 0) error = translator_parse(lines, question->count, arena, ret);
  bool is_no_command = status == NOT_EXECUTABLE || status == NOT_FOUND;
  if (error == -EBADMSG && is_no_command) error = -ENOENT;
  if (error != 0) explain(error, status, question, why);
  buf_fini(&answers);
  return error;
}

static bool is_worth_a_try(int error) {
  return error != 0 && error != -ENOMEM && error != -ENOENT;
}

static int ask(const struct question *question, const struct profile *profile, struct arena *arena,
               struct frame_name *names, char *why) {
  struct buf addresses = {0};
  struct frame_name *told = calloc(question->count, sizeof *told);
  for (uint32_t i = 0; i < question->count; i++)
    buf_printf(&addresses, "0x%llx\n",
               (unsigned long long)profile->frames[question->frames[i]].address);
  int error = told == NULL || addresses.failed ? -ENOMEM : -EAGAIN;
  for (unsigned i = 0; i < TRIES_MAX && is_worth_a_try(error); i++)
    error = ask_once(question, buf_span(&addresses), arena, told, why);
  for (uint32_t i = 0; i < question->count && error == 0; i++) names[question->frames[i]] = told[i];
  if (error == -ENOMEM) snprintf(why, TRANSLATOR_WHY_BYTES, "out of memory");
  free(told);
  buf_fini(&addresses);
  return error;
}

int translator_name(const struct translator *translator, const struct profile *profile,
                    uint32_t module, struct arena *arena, struct frame_name *names,
                    char why[TRANSLATOR_WHY_BYTES]) {
  uint32_t frames[OUTSTANDING_MAX], at = 0;
  struct question question = {translator, &profile->modules[module], frames, 0};
  int error = 0;
  while (at < profile->frame_count && error == 0) {
    question.count = 0;
    for (; at < profile->frame_count && question.count < OUTSTANDING_MAX; at++)
      if (profile->frames[at].module == module) frames[question.count++] = at;
    if (question.count > 0) error = ask(&question, profile, arena, names, why);
  }
  return error;
}
