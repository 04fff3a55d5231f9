/* SPDX-License-Identifier: Apache-2.0 */
/* `backup`, `restore` and `check`, for a shell or a timer. They print one closing line on stdout,
   and progress on stderr if that is a terminal. The exit status is 0 only if all files are
   complete. A backup that omits a damaged file is written, but exits 1, so that a script does not
   delete the older backups.

   INT and TERM stop a command at the next piece; incomplete output is deleted. */
#include "backup_command.h"

#include "backup/backup.h"
#include "backup/check.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/output_form.h"
#include "common/progress_line.h"
#include "common/text.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
  EXIT_DONE = 0,
  EXIT_FAILED = 1,
  EXIT_USAGE = 2,
  ERROR_BYTES = 1024,
  WORDS_MAX = 64,
  TEXT_BYTES = 160,
  MIB = 1 << 20,
  LARGE_BYTES = 64 * MIB, /* a file that may take about a second by itself */
};

struct backup_settings {
  const char *data, *format;
  bool quiet, is_json;
};

#define ROW(name, argument, kind, member, help) \
  { name, 0, argument, NULL, "Options", help, kind, offsetof(struct backup_settings, member) }

static const struct option rows[] = {
    ROW("data", "DIR", OPTION_PATH, data, "the collector's folder"),
    ROW("quiet", NULL, OPTION_FLAG, quiet, "print nothing but what went wrong"),
    OUTPUT_FORM_ROW("Options", struct backup_settings, format),
};

static const struct option_table backup_table = {
    .usage = "fleetprof-collector backup --data DIR [--quiet] FILE",
    .summary =
        "Writes all that a collector keeps to FILE, as it is at one moment, also while it runs.",
    .epilogue =
        "FILE is a tar archive that holds keys: only its owner may read it.  It is written\n"
        "beside its name and takes its place when it is whole, also that of an older backup.\n"
        "Exit status: 0 whole, 1 failed or something damaged was left out, 2 wrong usage.\n"
        "\nEXAMPLES\n"
        "  fleetprof-collector backup --data /var/lib/fleetprof-collector /backup/fleet.tar\n"
        "  tar -tvf /backup/fleet.tar\n",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
};

static const struct option_table restore_table = {
    .usage = "fleetprof-collector restore FILE --data DIR [--quiet]",
    .summary = "Makes the collector's folder DIR, empty or not there yet, from a backup.",
    .epilogue =
        "What FILE holds is checked against the sums in it; unless all is right DIR stays as it "
        "was.\nEnd the collector whose backup it is first: two would give out the same names.  "
        "What a restored\ncollector cannot know is in docs/backup.md.\n"
        "\nEXAMPLES\n"
        "  fleetprof-collector restore /backup/fleet.tar --data /var/lib/fleetprof-collector\n",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
};

static const struct option_table check_table = {
    .usage = "fleetprof-collector check --data DIR [--quiet]",
    .summary =
        "Reads all that a collector keeps through and says what is damaged; changes nothing.",
    .epilogue =
        "A collector may run.  At each start it looks at every file itself, in short, and sets "
        "damaged\nones aside (*.corrupt); this reads all of them, which takes as long as the "
        "disk needs for it.\nExit status: 0 sound, 1 something is damaged, 2 wrong usage.\n"
        "\nEXAMPLES\n"
        "  fleetprof-collector check --data /var/lib/fleetprof-collector\n",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
};

struct showing {
  const char *command;
  struct progress_line line;
  struct json *json; /* an object with an open list of omitted or damaged files; or NULL */
};

static volatile sig_atomic_t is_stopped;

static void on_stop(int signal_number) {
  (void)signal_number;
  is_stopped = 1;
}

static int on_progress(void *context, uint64_t done, uint64_t total) {
  struct showing *showing = context;
  if (is_stopped) return -EINTR;
  if (!progress_line_is_due(&showing->line)) return 0;
  char text[TEXT_BYTES];
  if (total < done) total = done;
  snprintf(text, sizeof text, "%s: %llu of %llu MiB", showing->command,
           (unsigned long long)(done / MIB), (unsigned long long)(total / MIB));
  progress_line_bar(&showing->line, done, total, text);
  return 0;
}

static void write_named(struct json *json, const char *name, const char *why) {
  json_open(json, '{');
  json_key_string(json, "name", name);
  json_key_string(json, "why", why);
  json_close(json, '}');
}

static void on_left_out(void *context, const char *name, const char *why) {
  struct showing *showing = context;
  if (showing->json != NULL) write_named(showing->json, name, why);
  progress_line_clear(&showing->line);
  text_print(stderr, "fleetprof-collector %s: %s is left out: %s", showing->command, name, why);
}

/* Reads ARGV, where FILE may precede or follow the options. Returns 0, 1 if --help was printed, or
   -EINVAL with ERROR. */
static int read_options(const struct option_table *table, int argc, char **argv,
                        struct backup_settings *settings, bool wants_file, const char **ret_file,
                        char error[ERROR_BYTES]) {
  char *words[WORDS_MAX + 1];
  struct options_result result;
  const char *file = NULL;
  int count = argc < WORDS_MAX ? argc : WORDS_MAX;
  memcpy(words, argv, (size_t)count * sizeof *words);
  for (;;) {
    words[count] = NULL;
    int failed = options_parse(table, count, words, settings, &result, error, ERROR_BYTES);
    if (failed) return failed;
    if (result.is_done) return 1;
    failed =
        output_form_parse(argc, argv, settings->format, &settings->is_json, error, ERROR_BYTES);
    if (failed) return failed;
    int at = result.first_positional;
    if (at >= count) break;
    snprintf(error, ERROR_BYTES, "%s: is one word too many", words[at]);
    if (file != NULL || !wants_file) return -EINVAL;
    file = words[at];
    count--;
    memmove(&words[at], &words[at + 1], (size_t)(count - at) * sizeof *words);
  }
  bool lacks_file = wants_file && file == NULL;
  snprintf(error, ERROR_BYTES, "%s: is missing", lacks_file ? "FILE" : "--data");
  if (lacks_file || settings->data == NULL) return -EINVAL;
  *ret_file = file;
  return 0;
}

/* Raises the limit of descriptors, since all databases of the folder are open at once. */
static void raise_limits(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

static void catch_stops(void) {
  struct sigaction action = {.sa_handler = on_stop};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGHUP, &action, NULL);
}

typedef int on_wish(const struct backup_wish *wish, struct backup_report *ret, char *error,
                    size_t error_len);

static void print_report(const struct showing *showing, const char *what,
                         const struct backup_report *report) {
  char time[32];
  clock_print_time(report->moment_ms * NS_PER_MS, time);
  printf("%s: %llu files, %llu.%llu MiB, as of %s", what, (unsigned long long)report->files,
         (unsigned long long)(report->bytes / MIB),
         (unsigned long long)(report->bytes % MIB * 10 / MIB), time);
  if (showing->command[0] == 'b')
    printf("; appends waited %llu.%llu ms", (unsigned long long)(report->held_us / 1000),
           (unsigned long long)(report->held_us % 1000 / 100));
  printf("\n");
}

static void write_report(struct json *json, const struct backup_report *report) {
  char time[32];
  clock_print_time(report->moment_ms * NS_PER_MS, time);
  json_key_uint(json, "files", report->files);
  json_key_uint(json, "bytes", report->bytes);
  json_key_string(json, "as_of", time);
  json_key(json, "held_seconds");
  json_double(json, (double)report->held_us / 1e6);
}

/* Begins an object in TEXT with its first member and the list NAME. */
static void begin_json(struct json *json, struct buf *text, const char *const first[2],
                       const char *name) {
  json_init(json, text, SIZE_MAX);
  json_open(json, '{');
  json_key_string(json, first[0], first[1]);
  json_key(json, name);
  json_open(json, '[');
}

/* Returns STATUS, or EXIT_FAILED if stdout cannot be written. */
static int end_json(const char *command, struct json *json, struct buf *text, int status) {
  json_close(json, '}');
  int error = output_form_write(text);
  if (error != 0)
    text_print(stderr, "fleetprof-collector %s: stdout: %s", command, strerror(-error));
  return error == 0 ? status : EXIT_FAILED;
}

/* Reports the result of a successful WISH. Returns the exit status. */
static int conclude(const struct backup_settings *settings, struct showing *showing,
                    const struct backup_wish *wish, const struct backup_report *report) {
  int status = report->left_out == 0 ? EXIT_DONE : EXIT_FAILED;
  if (showing->json != NULL) {
    json_close(showing->json, ']');
    write_report(showing->json, report);
    return end_json(showing->command, showing->json, showing->json->out, status);
  }
  bool is_backup = showing->command[0] == 'b';
  if (!settings->quiet) print_report(showing, is_backup ? wish->file : wish->dir, report);
  return status;
}

static int run(const struct option_table *table, on_wish *make, int argc, char **argv) {
  struct backup_settings settings = {0};
  struct backup_report report;
  struct showing showing = {.command = argv[0]};
  struct backup_wish wish = {
      .on_progress = on_progress, .on_left_out = on_left_out, .context = &showing};
  struct buf text = {0};
  struct json json;
  char error[ERROR_BYTES] = "";
  int failed = read_options(table, argc, argv, &settings, true, &wish.file, error);
  if (failed == 1) return EXIT_DONE;
  if (failed == 0) {
    wish.dir = settings.data;
    if (settings.is_json) {
      const char *const first[] = {"file", wish.file};
      begin_json(&json, &text, first, "left_out");
      showing.json = &json;
    }
    progress_line_init(&showing.line, !settings.quiet);
    raise_limits();
    catch_stops();
    int made = make(&wish, &report, error, sizeof error);
    progress_line_clear(&showing.line);
    int status = made == 0 ? conclude(&settings, &showing, &wish, &report) : EXIT_FAILED;
    buf_fini(&text);
    if (made == 0) return status;
  }
  text_print(stderr, "fleetprof-collector %s: %s", argv[0], error);
  return failed ? EXIT_USAGE : EXIT_FAILED;
}

int backup_command_backup(int argc, char **argv) {
  return run(&backup_table, backup_make, argc, argv);
}

int backup_command_restore(int argc, char **argv) {
  return run(&restore_table, backup_restore, argc, argv);
}

/* Shows progress before each file, always for a large one: there is none within a file. */
static int on_file(void *context, const char *name, const struct check_place *place) {
  struct showing *showing = context;
  if (is_stopped) return -EINTR;
  if (place->bytes < LARGE_BYTES && !progress_line_is_due(&showing->line)) return 0;
  char text[TEXT_BYTES];
  snprintf(text, sizeof text, "%s: %llu of %llu MiB  %.60s", showing->command,
           (unsigned long long)(place->done / MIB), (unsigned long long)(place->total / MIB), name);
  progress_line_bar(&showing->line, place->done, place->total, text);
  return 0;
}

static void on_fault(void *context, const char *name, const char *why) {
  struct showing *showing = context;
  progress_line_clear(&showing->line);
  if (showing->json != NULL)
    write_named(showing->json, name, why);
  else
    text_print(stdout, "%s: %s", name, why);
}

static void on_misdated(void *context, const char *name) {
  struct showing *showing = context;
  progress_line_clear(&showing->line);
  if (showing->json == NULL)
    text_print(stdout, "%s: no fault: its date cannot be, a clock was wrong when it was stored",
               name);
}

static void print_checked(const struct check_report *report) {
  printf("%llu files, ", (unsigned long long)report->files);
  if (report->faults == 0)
    printf("all sound");
  else
    printf("%llu faults: docs/backup.md says what to do", (unsigned long long)report->faults);
  if (report->set_aside > 0)
    printf("; %llu were set aside earlier (*.corrupt)", (unsigned long long)report->set_aside);
  if (report->misdated > 0)
    printf("; %llu of days that cannot be", (unsigned long long)report->misdated);
  printf("\n");
}

static int write_checked(struct showing *showing, const struct check_report *report) {
  json_close(showing->json, ']');
  json_key_uint(showing->json, "files", report->files);
  json_key_uint(showing->json, "set_aside", report->set_aside);
  json_key_uint(showing->json, "misdated", report->misdated);
  int status = report->faults == 0 ? EXIT_DONE : EXIT_FAILED;
  return end_json(showing->command, showing->json, showing->json->out, status);
}

static int check(const struct backup_settings *settings, struct showing *showing) {
  const char *dir = settings->data;
  const struct check_wish wish = {.dir = dir,
                                  .on_file = on_file,
                                  .on_fault = on_fault,
                                  .on_misdated = on_misdated,
                                  .context = showing};
  struct check_report report;
  catch_stops();
  int failed = check_folder(&wish, &report);
  progress_line_clear(&showing->line);
  if (failed) {
    text_print(stderr, "fleetprof-collector check: --data %s: %s", dir,
               failed == -EINTR ? "stopped" : strerror(-failed));
    return EXIT_FAILED;
  }
  if (showing->json != NULL) return write_checked(showing, &report);
  if (!settings->quiet) print_checked(&report);
  return report.faults == 0 ? EXIT_DONE : EXIT_FAILED;
}

int backup_command_check(int argc, char **argv) {
  struct backup_settings settings = {0};
  char error[ERROR_BYTES] = "";
  const char *none = NULL;
  int failed = read_options(&check_table, argc, argv, &settings, false, &none, error);
  if (failed == 1) return EXIT_DONE;
  if (failed == 0) {
    struct showing showing = {.command = argv[0]};
    const char *const first[] = {"data", settings.data};
    struct buf text = {0};
    struct json json;
    if (settings.is_json) begin_json(&json, &text, first, "faults");
    if (settings.is_json) showing.json = &json;
    progress_line_init(&showing.line, !settings.quiet);
    int status = check(&settings, &showing);
    buf_fini(&text);
    return status;
  }
  text_print(stderr, "fleetprof-collector %s: %s", argv[0], error);
  return EXIT_USAGE;
}
