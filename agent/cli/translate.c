/* SPDX-License-Identifier: Apache-2.0 */
/* `fleetprof translate LIST`: addr2line for a symbol list instead of a debug file.

   A client may wait for each answer, or write a million addresses before it reads one.  So answers
   are buffered while more input is available, and written before a read that may block: a line at a
   time in a conversation, large blocks in a pipeline. */
#include "commands.h"
#include "common/buf.h"
#include "common/options.h"
#include "complaint.h"
#include "symbol_list/list_answer.h"
#include "symbol_list/list_file.h"
#include "symbol_list/symbol_list.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum {
  EXIT_FAILED = 1,
  EXIT_USAGE = 2,
  ERROR_BYTES = 512,
  READ_BYTES = 64 << 10,
  ANSWER_BYTES = 64 << 10,  /* buffered before they are written */
  QUESTION_BYTES_MAX = 256, /* a longer line is no address; its rest is skipped */
};

struct translate_options {
  const char *index, *make_index, *base;
  bool is_sorted, has_functions, has_addresses;
};

#define OFFSET(field) offsetof(struct translate_options, field)

static const struct option rows[] = {
    {"functions", 'f', NULL, NULL, "What is answered",
     "two lines: the function, and the kernel module or object file it is part of (with :0, or "
     "??:0), as addr2line -f does; without it one: function+0xoffset",
     OPTION_FLAG, OFFSET(has_functions)},
    {"addresses", 'a', NULL, NULL, "What is answered", "the address on a line before each answer",
     OPTION_FLAG, OFFSET(has_addresses)},
    {"base", 0, "PLACE", NULL, "What is answered",
     "what addresses are counted from: a symbol of the list (_text for a kernel's), or 0xADDRESS",
     OPTION_STRING, OFFSET(base)},
    {"sorted", 0, NULL, NULL, "How it is searched",
     "the list is in the order of its addresses: do not read it through to see whether it is",
     OPTION_FLAG, OFFSET(is_sorted)},
    {"index", 0, "FILE", NULL, "How it is searched", "search by this index of the list",
     OPTION_PATH, OFFSET(index)},
    {"make-index", 0, "FILE", NULL, "How it is searched",
     "write an index of the list (16 bytes a symbol) and answer nothing", OPTION_PATH,
     OFFSET(make_index)},
};

static const struct option_table table = {
    .usage = "fleetprof translate [OPTION]... LIST",
    .summary = "Answers addresses on stdin with the functions of LIST: `nm -n`, `nm -S`,\n"
               "System.map, /proc/kallsyms, or the map of a linker (GNU ld, gold, LLD).  What is\n"
               "unknown is ??.  A sorted LIST is searched where it lies, however large; another\n"
               "gets an index in memory.",
    .epilogue = "EXAMPLES\n"
                "  echo ffffffff81000042 | fleetprof translate System.map\n"
                "  fleetprof report x.fp --translator 'fleetprof translate tool.map'\n",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .other_names = commands_option_names,
};

struct conversation {
  const struct list_file *file;
  struct list_form form;
  struct buf answers;
  uint8_t question[QUESTION_BYTES_MAX]; /* the start of an incomplete line */
  size_t question_len;
};

static int write_answers(struct conversation *talk) {
  struct span rest = buf_span(&talk->answers);
  if (talk->answers.failed) return -ENOMEM;
  while (rest.len > 0) {
    ssize_t put = write(STDOUT_FILENO, rest.data, rest.len);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return -errno;
    rest = span_of(rest.data + put, rest.len - (size_t)put);
  }
  buf_clear(&talk->answers);
  return 0;
}

static void keep(struct conversation *talk, struct span piece) {
  size_t room = sizeof talk->question - talk->question_len;
  size_t len = piece.len < room ? piece.len : room;
  memcpy(talk->question + talk->question_len, piece.data, len);
  talk->question_len += len;
}

/* Answers the buffered question. */
static int answer(struct conversation *talk) {
  struct span question = span_of(talk->question, talk->question_len);
  if (question.len == sizeof talk->question) question.len = 0;
  list_answer(talk->file, &talk->form, question, &talk->answers);
  talk->question_len = 0;
  return talk->answers.len >= ANSWER_BYTES ? write_answers(talk) : 0;
}

static int hear(struct conversation *talk, struct span piece) {
  int error = 0;
  while (piece.len > 0 && error == 0) {
    const uint8_t *newline = memchr(piece.data, '\n', piece.len);
    size_t len = newline ? (size_t)(newline - piece.data) : piece.len;
    keep(talk, span_of(piece.data, len));
    if (newline == NULL) return 0;
    error = answer(talk);
    piece = span_of(newline + 1, piece.len - len - 1);
  }
  return error;
}

/* Answers all input.  Returns 0 or -errno. */
static int converse(struct conversation *talk) {
  static uint8_t piece[READ_BYTES];
  for (int error = 0; error == 0;) {
    ssize_t got = read(STDIN_FILENO, piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -errno;
    if (got == 0 && talk->question_len > 0) error = answer(talk);
    if (got > 0) error = hear(talk, span_of(piece, (size_t)got));
    if (error == 0) error = write_answers(talk);
    if (error != 0 || got == 0) return error == -EPIPE ? 0 : error;
  }
  return 0;
}

static int find_base(const struct list_file *file, const char *text, uint64_t *ret) {
  struct span word = span_of_string(text);
  *ret = 0;
  if (symbol_list_address_of(list_file_text(file), word, ret) == 0) return 0;
  if (strncmp(text, "0x", 2) == 0 && list_answer_parse_address(word, ret)) return 0;
  complaint("translate: --base: the list has no symbol '%s', and it is no 0xADDRESS", text);
  return -EINVAL;
}

static int translate(const struct list_file *file, const struct translate_options *options,
                     const char *path) {
  char why[LIST_FILE_WHY_BYTES];
  if (options->make_index != NULL) {
    if (list_file_write_index(file, options->make_index, why) == 0) return 0;
    complaint("translate: --make-index: %s: %s", options->make_index, why);
    return EXIT_FAILED;
  }
  struct conversation talk = {
      .file = file,
      .form = {.has_functions = options->has_functions, .has_addresses = options->has_addresses}};
  if (options->base != NULL && find_base(file, options->base, &talk.form.base) != 0)
    return EXIT_FAILED;
  int error = converse(&talk);
  if (error != 0) complaint("translate: %s: %s", path, strerror(-error));
  buf_fini(&talk.answers);
  return error == 0 ? 0 : EXIT_FAILED;
}

/* `translate LIST --base _text` is permitted too: moves a leading LIST behind the options. */
static void move_list(int argc, char **argv) {
  if (argc < 3 || argv[1][0] == '-') return;
  char *list = argv[1];
  memmove(argv + 1, argv + 2, (size_t)(argc - 2) * sizeof *argv);
  argv[argc - 1] = list;
}

int translate_main(int argc, char **argv) {
  struct translate_options options = {0};
  struct options_result result;
  struct list_file *file;
  char error[ERROR_BYTES], why[LIST_FILE_WHY_BYTES];
  move_list(argc, argv);
  if (options_parse(&table, argc, argv, &options, &result, error, sizeof error) != 0) {
    complaint("translate: %s", error);
    return EXIT_USAGE;
  }
  if (result.is_done) return 0;
  if (result.first_positional + 1 != argc) {
    complaint("translate: one list; usage: %s", table.usage);
    return EXIT_USAGE;
  }
  const char *path = argv[result.first_positional];
  struct list_choice choice = {path, options.index, options.is_sorted || options.make_index};
  if (list_file_open(&choice, &file, why) != 0) {
    complaint("translate: %s: %s", path, why);
    return EXIT_FAILED;
  }
  int status = translate(file, &options, path);
  list_file_close(file);
  return status;
}
