/* SPDX-License-Identifier: Apache-2.0 */
/* A process that keeps running saves its start, which for a large file takes most of the time. But
   its answers have no end mark: after one extra line, every answer would belong to the wrong
   address. So each exchange asks for the first address again at the end. If the answers differ, the
   whole exchange is rejected and the process is ended. */
#include "interview.h"

#include "common/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  NOT_EXECUTABLE = 126, /* the shell's status for a command that cannot be run */
  NOT_FOUND = 127,
  LINE_BYTES = 20,
};

#define ANSWER_BYTES_MAX ((size_t)16 << 20)

static bool stays(const struct translator_rule *rule) {
  return rule->answers != TRANSLATOR_AT_END;
}

bool interview_is_over(const struct interview *interview, const struct translator_times *times) {
  uint64_t now = clock_monotonic_ns();
  return interview->process.pid != 0 && (now - interview->used_ns >= times->idle_ms * NS_PER_MS ||
                                         now - interview->started_ns >= times->life_ms * NS_PER_MS);
}

void interview_end(struct interview *interview) {
  if (interview->process.pid != 0) co_process_end(&interview->process, false);
  interview->process.pid = 0;
}

static int be_ready(struct interview *interview, const struct interview_subject *subject) {
  const struct co_start start = {subject->rule->command, subject->variables, true};
  bool is_there = interview->process.pid != 0 && interview->module == subject->module;
  if (is_there && !interview_is_over(interview, subject->times) &&
      !co_process_is_astray(&interview->process))
    return 0;
  interview_end(interview);
  int error = co_process_start(&start, &interview->process);
  if (error != 0) interview->process.pid = 0;
  interview->module = subject->module;
  interview->starts++;
  interview->started_ns = clock_monotonic_ns();
  return error;
}

static int talk(struct interview *interview, const struct interview_subject *subject,
                const struct answer_question *question, struct buf *answers) {
  static const enum co_stop stops[] = {CO_AT_END, CO_AT_LINES, CO_AT_LINES, CO_AT_BLANKS};
  enum translator_answers form = subject->rule->answers;
  struct buf lines = {0};
  for (uint32_t i = 0; i < question->count; i++)
    buf_printf(&lines, "0x%llx\n", (unsigned long long)question->addresses[i]);
  const struct co_talk how = {
      .questions = buf_span(&lines),
      .stop = stops[form],
      .stop_count = question->count * (form == TRANSLATOR_LINES_2 ? 2U : 1U),
      .quiet_ms = subject->times->quiet_ms,
      .deadline_ns = clock_monotonic_ns() + subject->times->talk_ms * NS_PER_MS,
      .answer_bytes_max = ANSWER_BYTES_MAX,
      .cancel = subject->cancel};
  int error = lines.failed ? -ENOMEM : co_process_talk(&interview->process, &how, answers);
  buf_fini(&lines);
  return error;
}

static bool is_same(const struct answer *a, const struct answer *b) {
  bool is_same = a->count == b->count;
  for (uint32_t i = 0; is_same && i < a->count; i++)
    is_same =
        strcmp(a->frames[i].name, b->frames[i].name) == 0 && a->frames[i].line == b->frames[i].line;
  return is_same;
}

enum { ECHOES = -EREMCHG }; /* it echoes its input; returned as -EBADMSG */

static void explain(int error, int status, const struct interview_subject *subject, char *why) {
  if (error == -ETIMEDOUT)
    snprintf(why, INTERVIEW_WHY_BYTES, "did not answer within %u s and was ended",
             subject->times->quiet_ms / 1000);
  else if (status == NOT_EXECUTABLE || status == NOT_FOUND)
    snprintf(why, INTERVIEW_WHY_BYTES, "cannot be run (status %d): check the command", status);
  else if (error == -EBADMSG && status > 0)
    snprintf(why, INTERVIEW_WHY_BYTES, "ended with status %d", status);
  else if (error == ECHOES)
    snprintf(why, INTERVIEW_WHY_BYTES, "gives its addresses back as they are: no translator");
  else if (error == -EBADMSG)
    snprintf(why, INTERVIEW_WHY_BYTES, "its lines and the addresses do not come out even");
  else
    snprintf(why, INTERVIEW_WHY_BYTES, "%s", strerror(-error));
}

/* Runs an exchange. Ends the process unless it keeps running and succeeded. */
static int exchange(struct interview *interview, const struct interview_subject *subject,
                    const struct answer_question *question, struct arena *arena, struct answer *ret,
                    char *why) {
  struct buf answers = {0};
  int status = 0;
  int error = talk(interview, subject, question, &answers);
  bool ends = !stays(subject->rule);
  if (error != 0 || ends)
    status = co_process_end(&interview->process, error == 0 || error == -EBADMSG);
  if (error == 0) error = answer_lines_parse(buf_span(&answers), question, arena, ret);
  bool is_even = !stays(subject->rule) || error != 0 || is_same(&ret[0], &ret[question->count - 1]);
  if (!is_even) error = -EBADMSG;
  if (error == 0 && answer_lines_are_echo(buf_span(&answers), question)) error = ECHOES;
  if (error != 0) {
    explain(error, status, subject, why);
    if (error == ECHOES) error = -EBADMSG;
    if (error == -EBADMSG && status > 0) error = -ECHILD;
    interview_end(interview);
  }
  buf_fini(&answers);
  interview->used_ns = clock_monotonic_ns();
  return error;
}

int interview_ask(struct interview *interview, const struct interview_subject *subject,
                  const struct answer_question *question, struct arena *arena, struct answer *ret,
                  char why[INTERVIEW_WHY_BYTES]) {
  uint32_t count = question->count + (stays(subject->rule) ? 1 : 0);
  uint64_t *addresses = calloc(count, sizeof *addresses);
  struct answer *answers = calloc(count, sizeof *answers);
  int error = addresses == NULL || answers == NULL ? -ENOMEM : be_ready(interview, subject);
  if (error == 0) {
    memcpy(addresses, question->addresses, question->count * sizeof *addresses);
    addresses[count - 1] = stays(subject->rule) ? addresses[0] : addresses[count - 1];
    const struct answer_question asked = {addresses, count};
    error = exchange(interview, subject, &asked, arena, answers, why);
  } else {
    explain(error, 0, subject, why);
  }
  if (error == 0) memcpy(ret, answers, question->count * sizeof *ret);
  free(addresses);
  free(answers);
  return error;
}
