/* SPDX-License-Identifier: Apache-2.0 */
/* The oldest protocol for names, which every vendor's tool can support.  A process gets at most
   OUTSTANDING_MAX addresses and then the end of its input, which makes every translator flush its
   output (translate/co_process.h).

   The translator is a foreign program: it may die, hang, or print too much.  Each of these costs
   its names and a line on stderr, never the report. */
#include "translator.h"

#include "namer.h"

#include "common/hex_text.h"
#include "elf/module_file.h"
#include "elf/regular_file.h"
#include "proto/limits.h"
#include "symbol/alias_name.h"
#include "symbol/false_name.h"
#include "translate/answer_lines.h"
#include "translate/co_process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  OUTSTANDING_MAX = 16384,
  TRIES_MAX = 2,
  VARIABLE_BYTES = LIMIT_PATH_BYTES + 16,
  NOT_EXECUTABLE = 126, /* exit status of a shell if its command cannot be run */
  NOT_FOUND = 127,
};

#define ANSWER_BYTES_MAX ((size_t)64 << 20)

/* The frames that one process is queried for. */
struct question {
  const struct translator *translator;
  const struct profile_module *module;
  const uint32_t *frames; /* indexes */
  const uint64_t *addresses;
  uint32_t count;
};

bool translator_takes_module(const struct translator *translator) {
  return strstr(translator->command, "MODULE") != NULL;
}

/* Whether the variable at NAME, "MODULE..." within COMMAND, is a whole word or the value of an
   option.  A path with text before or after it belongs to another machine's files. */
static bool is_whole_word(const char *command, const char *name) {
  const char *start = name, *end = name + strlen("MODULE");
  bool is_braced = start > command && start[-1] == '{' && *end == '}';
  start -= is_braced;
  end += is_braced;
  if (start == command || *--start != '$') return false;
  while (start > command && strchr("'\"", start[-1]) != NULL) start--;
  end += strspn(end, "'\"");
  return (start == command || strchr(" \t\n=", start[-1]) != NULL) &&
         strchr(" \t\n;|&<>()", *end) != NULL; /* strchr also finds the terminating NUL */
}

/* Whether COMMAND opens its module only by its local path. */
static bool needs_path(const char *command) {
  const char *name = strstr(command, "MODULE");
  if (name == NULL || strstr(command, "BUILD_ID") != NULL) return false;
  for (; name != NULL; name = strstr(name + 1, "MODULE"))
    if (!is_whole_word(command, name)) return false;
  return true;
}

bool translator_can_read(const struct translator *translator, const struct profile_module *module) {
  struct stat status;
  struct module_stamp stamp;
  struct module_identity found;
  if (!needs_path(translator->command)) return true;
  if (module->path[0] != '/') return module->path[0] != '['; /* the kernel has no file */
  int fd = regular_file_open(module->path, &status);
  if (fd < 0) return false;
  bool is_there = module_file_stamp(fd, &stamp) == 0 &&
                  module_file_identify(fd, &stamp, &found) == 0 &&
                  span_is_equal(span_of(found.id, found.id_bytes), module->id);
  close(fd);
  return is_there;
}

struct answer *translator_names_new(const struct profile *profile, struct arena *arena) {
  return arena_array(arena, profile->frame_count, sizeof(struct answer));
}

bool translator_names_has(const struct answer *names, uint32_t frame) {
  return names[frame].count > 0;
}

static int start(const struct question *question, struct co_process *ret) {
  char module[VARIABLE_BYTES], id[2 * LIMIT_MODULE_ID_BYTES + sizeof "BUILD_ID="] = "BUILD_ID=";
  const char *const variables[] = {module, id, NULL};
  const struct co_start how = {.command = question->translator->command, .variables = variables};
  size_t at = strlen(id);
  hex_text_print(question->module->id, id + at, sizeof id - at);
  snprintf(module, sizeof module, "MODULE=%s", question->module->path);
  return co_process_start(&how, ret);
}

static void explain(int error, int status, const struct question *question, char *why) {
  if (error == -ETIMEDOUT)
    snprintf(why, TRANSLATOR_WHY_BYTES, "did nothing for %u s and was ended",
             question->translator->deadline_ms / 1000);
  else if (error == -ENOENT)
    snprintf(why, TRANSLATOR_WHY_BYTES, "cannot be run (status %d): check the command", status);
  else if (error == -EREMCHG)
    snprintf(why, TRANSLATOR_WHY_BYTES,
             "gives its addresses back as they are: is it a translator (reads an address a line, "
             "prints the function of each)?");
  else if (error == -EBADMSG && status != 0)
    snprintf(why, TRANSLATOR_WHY_BYTES, "ended with status %d", status);
  else if (error == -EBADMSG)
    snprintf(why, TRANSLATOR_WHY_BYTES,
             "answered %u addresses with lines that do not come out even (1 or 2 for each; where "
             "functions are inlined, addr2line needs -a)",
             question->count);
  else
    snprintf(why, TRANSLATOR_WHY_BYTES, "%s", strerror(-error));
}

/* Queries one process for all frames of QUESTION. */
static int ask_once(const struct question *question, struct span addresses, struct arena *arena,
                    struct answer *ret, char *why) {
  const struct answer_question asked = {question->addresses, question->count};
  const struct co_talk talk = {.questions = addresses,
                               .stop = CO_AT_END,
                               .quiet_ms = question->translator->deadline_ms,
                               .answer_bytes_max = ANSWER_BYTES_MAX};
  struct buf answers = {0};
  struct co_process process;
  int error = start(question, &process), status = 0;
  if (error == 0) {
    error = co_process_talk(&process, &talk, &answers);
    status = co_process_end(&process, error == 0);
  }
  if (error == 0) error = answer_lines_parse(buf_span(&answers), &asked, arena, ret);
  if (error == 0 && answer_lines_are_echo(buf_span(&answers), &asked)) error = -EREMCHG;
  bool is_no_command = status == NOT_EXECUTABLE || status == NOT_FOUND;
  if (error == -EBADMSG && is_no_command) error = -ENOENT;
  if (error != 0) explain(error, status, question, why);
  buf_fini(&answers);
  return error;
}

static bool is_worth_a_try(int error) {
  return error != 0 && error != -ENOMEM && error != -ENOENT && error != -EREMCHG;
}

static void take(const struct question *question, const struct answer *told, struct answer *names) {
  for (uint32_t i = 0; i < question->count; i++)
    if (told[i].count > 0) names[question->frames[i]] = told[i];
}

static int ask(const struct question *question, struct arena *arena, struct answer *names,
               char *why) {
  struct buf addresses = {0};
  struct answer *told = calloc(question->count, sizeof *told);
  for (uint32_t i = 0; i < question->count; i++)
    buf_printf(&addresses, "0x%llx\n", (unsigned long long)question->addresses[i]);
  int error = told == NULL || addresses.failed ? -ENOMEM : -EAGAIN;
  for (unsigned i = 0; i < TRIES_MAX && is_worth_a_try(error); i++)
    error = ask_once(question, buf_span(&addresses), arena, told, why);
  if (error == 0) take(question, told, names);
  if (error == -ENOMEM) snprintf(why, TRANSLATOR_WHY_BYTES, "out of memory");
  free(told);
  buf_fini(&addresses);
  return error;
}

int translator_name(const struct translator *translator, const struct profile *profile,
                    uint32_t module, struct arena *arena, struct answer *names,
                    char why[TRANSLATOR_WHY_BYTES]) {
  uint32_t frames[OUTSTANDING_MAX], at = 0;
  uint64_t addresses[OUTSTANDING_MAX];
  struct question question = {translator, &profile->modules[module], frames, addresses, 0};
  int error = 0;
  while (at < profile->frame_count && error == 0) {
    question.count = 0;
    for (; at < profile->frame_count && question.count < OUTSTANDING_MAX; at++) {
      if (profile->frames[at].module != module) continue;
      addresses[question.count] = profile->frames[at].address;
      frames[question.count++] = at;
    }
    if (question.count > 0) error = ask(&question, arena, names, why);
  }
  return error;
}

/* The verdict of a module's symbols on a translator's name. */
enum opinion { OPINION_NONE, OPINION_FALSE, OPINION_ALIAS };

static enum opinion judge(const struct profile *profile, struct namer *namer,
                          const struct profile_frame *frame, const struct answer *told) {
  const char *why;
  if (told->count != 1 || told->frames[0].file != NULL) return OPINION_NONE;
  if (namer_load(namer, frame->module, &profile->modules[frame->module], &why) != 0)
    return OPINION_NONE;
  const struct symbol_index *symbols = namer_symbols(namer, frame->module);
  if (false_name_is(symbols, frame->address, &told->frames[0])) return OPINION_FALSE;
  return alias_name_is(symbols, frame->address, &told->frames[0]) ? OPINION_ALIAS : OPINION_NONE;
}

uint32_t translator_check(const struct profile *profile, struct namer *namer,
                          struct answer *names) {
  uint32_t refuted = 0;
  for (uint32_t i = 0; i < profile->frame_count; i++) {
    enum opinion opinion = judge(profile, namer, &profile->frames[i], &names[i]);
    if (opinion != OPINION_NONE) names[i].count = 0;
    refuted += opinion == OPINION_FALSE;
  }
  return refuted;
}
