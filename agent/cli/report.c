/* SPDX-License-Identifier: Apache-2.0 */
/* `fleetprof report`: files -> one profile in addresses -> names -> one of the formats on stdout.

   Readable parts are shown, and unreadable parts are reported on stderr with their size: a profile
   that a crash cut short is often the important one.  A file that is not a profile, or is wholly
   unreadable, ends the report: a sum that silently lacks a term is worse than none.

   Output is formatted in memory and written once.  A reader that exits early (`| head`) is no
   error. */
#include "commands.h"
#include "common/arena.h"
#include "common/buf.h"
#include "common/path.h"
#include "common/text.h"
#include "complaint.h"
#include "debug_choice.h"
#include "diff_gate.h"
#include "elf/debug_folders.h"
#include "output_text.h"
#include "patience.h"
#include "report/best_name.h"
#include "report/counts.h"
#include "report/module_labels.h"
#include "report/namer.h"
#include "report/profile_reader.h"
#include "report/translator.h"
#include "report_counts.h"
#include "report_names.h"
#include "report_print.h"
#include "view/diff.h"
#include "view/place_table.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TREE_BYTES_MAX ((size_t)1 << 30)

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, TRANSLATOR_MS = 30000, WATCH_BYTES = 160 };

struct report {
  struct report_settings settings;
  struct report_side sides[2];
  struct arena arena;   /* for all printed data */
  bool is_untranslated; /* a translator was given and has failed */
  struct view_diff diff;
  struct diff_gate gate; /* with HAS_GATE: the result of --fail-over */
  bool has_gate;
  struct buf out;
};

static void tell_damage(const char *path, const struct profile_damage *damage) {
  if (damage->torn_bytes > 0)
    fprintf(stderr,
            "fleetprof: report: %s: the last %llu bytes are of a write that was cut short, and "
            "left out\n",
            path, (unsigned long long)damage->torn_bytes);
  if (damage->damaged_bytes > 0 || damage->bad_batches > 0)
    fprintf(stderr,
            "fleetprof: report: %s: %llu bytes and %llu batches are damaged, and left out\n", path,
            (unsigned long long)damage->damaged_bytes, (unsigned long long)damage->bad_batches);
  if (damage->bad_names > 0)
    fprintf(stderr,
            "fleetprof: report: %s: %llu lists of names are damaged or too long, and left out\n",
            path, (unsigned long long)damage->bad_names);
  if (damage->known_batches > 0)
    fprintf(stderr, "fleetprof: report: %s: %llu batches were read before: counted once\n", path,
            (unsigned long long)damage->known_batches);
  if (damage->is_unfinished)
    fprintf(stderr,
            "fleetprof: report: %s: its run still goes on or was killed: the last moments are not "
            "in it\n",
            path);
}

/* An unreadable file is an error; the file of a run without samples is valid. */
static int find_nothing(const struct profile_damage *damage, char why[PROFILE_READER_WHY_BYTES]) {
  bool is_damaged = damage->torn_bytes + damage->damaged_bytes + damage->bad_batches > 0;
  if (!damage->is_empty && (damage->good_batches + damage->known_batches > 0 || !is_damaged))
    return 0;
  snprintf(why, PROFILE_READER_WHY_BYTES, "%s",
           damage->is_empty ? "is empty: nothing was written into it"
                            : "is cut short or damaged: nothing in it can be read");
  return -EBADMSG;
}

/* Shows progress until patience_end. */
static void watch(const char *doing, const char *what) {
  char text[WATCH_BYTES];
  snprintf(text, sizeof text, "report: %s %.100s", doing, path_name(what));
  text_show(text);
  patience_watch(text);
}

static int read_file(struct report_side *side, const char *path) {
  char why[PROFILE_READER_WHY_BYTES];
  struct profile_damage damage;
  watch("reading", path);
  int error = profile_reader_read(path, &side->profile, &damage, why);
  patience_end();
  if (error == 0) error = find_nothing(&damage, why);
  if (error != 0)
    complaint("report: %s: %s", path, why);
  else
    tell_damage(path, &damage);
  side->runs += error == 0 && damage.good_batches > 0;
  return error;
}

static int read_files(struct report *report) {
  int error = 0;
  for (int i = 0; i < report->settings.file_count && error == 0; i++)
    error = read_file(&report->sides[0], report->settings.files[i]);
  const struct option_list *diff = &report->settings.options.diff;
  for (unsigned i = 0; i < diff->count && error == 0; i++)
    error = read_file(&report->sides[1], diff->values[i]);
  return error;
}

/* Addresses that the translator does not answer get their usual names, and the report's exit status
   is failure. */
static int translate_module(struct report *report, const struct profile *profile, uint32_t module,
                            struct answer *names) {
  const struct translator translator = {report->settings.options.translator, TRANSLATOR_MS};
  char why[TRANSLATOR_WHY_BYTES];
  watch("translating", profile->modules[module].path);
  int error = translator_name(&translator, profile, module, &report->arena, names, why);
  patience_end();
  if (error == 0) return 0;
  report->is_untranslated = true;
  fprintf(stderr, "fleetprof: report: --translator: %s: %s\n", profile->modules[module].path, why);
  return error;
}

/* Modules with missing files, so that the translator was not run on them. */
struct gone_modules {
  bool *is_gone; /* by module */
  uint32_t count, first;
};

/* Whether each sampled function of module INDEX has a name without the translator. */
static bool has_all_names(const struct profile *profile, struct namer *namer, uint32_t index) {
  for (uint32_t i = 0; i < profile->frame_count; i++)
    if (profile->frames[i].module == index &&
        !best_name_is_there(profile, namer, &profile->frames[i]))
      return false;
  return true;
}

/* Reports modules with missing files.  If names are missing for that reason, the report's exit
   status is failure. */
static void tell_gone(struct report *report, const struct profile *profile, struct namer *namer,
                      const struct gone_modules *gone) {
  bool has_all = true;
  char more[32] = "";
  if (gone->count == 0) return;
  for (uint32_t i = 0; i < profile->module_count && has_all; i++)
    has_all = !gone->is_gone[i] || has_all_names(profile, namer, i);
  if (gone->count > 1) snprintf(more, sizeof more, " and %u more", (unsigned)gone->count - 1);
  fprintf(stderr,
          "fleetprof: report: --translator: had nothing to do for %s%s: what was sampled is not "
          "there any more%s\n",
          profile->modules[gone->first].path, more,
          has_all ? "; names are those in the profile" : ", and the profile has not all names");
  report->is_untranslated |= !has_all;
}

static bool is_sampled(const struct profile *profile, uint32_t module) {
  for (uint32_t i = 0; i < profile->frame_count; i++)
    if (profile->frames[i].module == module) return true;
  return false;
}

/* Runs the translator: on the module of --module, or on every module if the command takes module
   names, else on the program itself. */
static void translate(struct report *report, const struct profile *profile, struct answer *names,
                      struct gone_modules *gone) {
  const struct report_options *options = &report->settings.options;
  const struct translator translator = {options->translator, TRANSLATOR_MS};
  uint32_t only = COUNTS_ALL;
  if (options->module != NULL || !translator_takes_module(&translator))
    only = counts_find_module(profile, options->module);
  for (uint32_t i = 0; i < profile->module_count; i++) {
    if (profile->modules[i].kind != MODULE_ELF || (only != COUNTS_ALL && only != i)) continue;
    if (!is_sampled(profile, i)) continue;
    if (!translator_can_read(&translator, &profile->modules[i])) {
      if (profile->modules[i].path[0] == '[') continue; /* it never had a file */
      if (gone->count++ == 0) gone->first = i;
      gone->is_gone[i] = true;
    } else if (translate_module(report, profile, i, names) == -ENOENT) {
      return; /* the translator is missing: stop */
    }
  }
}

/* Names that the profiled files contradict are replaced by the usual names. */
static void check_translation(const struct report_side *side, struct namer *namer,
                              struct answer *names) {
  uint32_t refuted = translator_check(&side->profile, namer, names);
  if (refuted > 0)
    fprintf(stderr,
            "fleetprof: report: --translator: %u addresses were named after a function that ends "
            "before them: not believed\n",
            refuted);
}

/* Sets RET to the translator's names for SIDE. */
static int translate_side(struct report *report, const struct report_side *side,
                          struct namer *namer, struct answer **ret) {
  const struct profile *profile = &side->profile;
  struct gone_modules gone = {
      .is_gone = arena_array(&report->arena, profile->module_count + 1, sizeof *gone.is_gone)};
  struct answer *names = translator_names_new(profile, &report->arena);
  if (names == NULL || gone.is_gone == NULL) return -ENOMEM;
  translate(report, profile, names, &gone);
  check_translation(side, namer, names);
  tell_gone(report, profile, namer, &gone);
  *ret = names;
  return 0;
}

/* Names the frames of SIDE and builds its tree. */
static int name(struct report *report, struct report_side *side, struct namer *namer) {
  struct answer *names = NULL;
  enum report_format format = report->settings.format;
  if (format == REPORT_PPROF || format == REPORT_CALLGRIND) side->profile.places |= PLACE_LINES;
  if (format == REPORT_PPROF || format == REPORT_PERF_SCRIPT) side->profile.places |= PLACE_CODE;
  int error = 0;
  if (report->settings.options.translator != NULL)
    error = translate_side(report, side, namer, &names);
  if (error != 0) return error;
  watch("naming functions of", side->profile.exe != NULL ? side->profile.exe : "");
  error = named_tree_build(&side->profile, namer, names, &report->arena, &side->tree);
  patience_end();
  bool is_all_told = report->settings.options.is_verbose || isatty(STDERR_FILENO) == 1;
  if (error == 0) report_names_tell(&side->profile, namer, names, is_all_told);
  return error;
}

/* Links the two sides: each may use the other's names, and equal modules are matched. */
static int match_sides(struct report *report) {
  struct profile *a = &report->sides[0].profile, *b = &report->sides[1].profile;
  if (report->settings.options.diff.count == 0) return module_labels_set(a, NULL);
  a->other_names = &b->kept_names;
  b->other_names = &a->kept_names;
  return module_labels_set(a, b);
}

static bool has_samples(const char *side, const char *file, const struct view_tree *tree) {
  if (tree->total_count > 0) return true;
  complaint("report: --fail-over: %s, %.200s, has no samples: nothing to judge by", side, file);
  return false;
}

/* Compares the sides.  Each is the sum of its runs. */
static int compare(struct report *report) {
  double a_runs = fmax(report->sides[0].runs, 1), b_runs = fmax(report->sides[1].runs, 1);
  struct view_diff_options options = {
      .units = {"run", a_runs, b_runs}, .a_runs = a_runs, .b_runs = b_runs};
  diff_choice_apply(&report->settings.options.choice, &options);
  return view_diff(&report->sides[0].tree, &report->sides[1].tree, &options, &report->arena,
                   &report->diff);
}

/* Evaluates the difference if --fail-over is given. */
static void judge(struct report *report) {
  const struct report_options *options = &report->settings.options;
  report->has_gate = options->diff.count > 0 && options->choice.fail_over >= 0;
  if (!report->has_gate) return;
  bool has_a = has_samples("a", report->settings.files[0], &report->sides[0].tree);
  bool has_b = has_samples("b", options->diff.values[0], &report->sides[1].tree);
  diff_gate_read(&report->diff, options->choice.fail_over, options->choice.is_both,
                 has_a && has_b ? NULL : "no samples", &report->gate);
}

static int show(struct report *report, struct namer *const namers[2]) {
  static const struct diff_gate_voice voice = {"report", "give debug files", "--debug DIR"};
  int sides = report->settings.options.diff.count > 0 ? 2 : 1;
  int error = match_sides(report);
  for (int i = 0; i < sides && error == 0; i++) error = name(report, &report->sides[i], namers[i]);
  if (error == 0 && sides == 2) error = compare(report);
  if (error == 0) judge(report);
  const struct diff_gate *gate = report->has_gate ? &report->gate : NULL;
  const struct report_difference difference = {&report->diff, gate};
  if (error == 0)
    error =
        report_print(&report->settings, report->sides, &difference, &report->arena, &report->out);
  if (error == 0 && gate != NULL) diff_gate_report(gate, &voice);
  if (error == 0) return output_text_write("report", report->settings.options.output, &report->out);
  fprintf(stderr, "fleetprof: report: %s\n", strerror(-error));
  return error;
}

/* Whether the module of --module is there: otherwise the option would apply to another module. */
static int check_module(const struct report *report) {
  const char *wanted = report->settings.options.module;
  const struct profile *profile = &report->sides[0].profile;
  if (wanted == NULL || counts_find_module(profile, wanted) != BATCH_NONE) return 0;
  report_counts_tell_modules(wanted, profile);
  return -ENOENT;
}

static int show_named(struct report *report, struct debug_folders *folders) {
  struct namer *namers[2] = {NULL, NULL}; /* symbols are kept by the profile's module numbers */
  int error = 0;
  for (int i = 0; i < 2 && error == 0; i++) {
    error = namer_open(NAMER_FILE_MS, &namers[i]);
    if (error == 0) namer_set_folders(namers[i], folders);
  }
  if (error != 0)
    fprintf(stderr, "fleetprof: report: cannot start: %s\n", strerror(-error));
  else
    error = show(report, namers);
  for (int i = 0; i < 2; i++) namer_close(namers[i]);
  return error;
}

static int make(struct report *report) {
  struct debug_folders *folders;
  int error = read_files(report);
  if (error == 0) error = check_module(report);
  if (error != 0) return error;
  if (report->settings.format == REPORT_COUNTS)
    return report_counts(&report->settings, &report->sides[0].profile);
  error = debug_choice_open("report", &report->settings.options.debug, &folders);
  if (error != 0) return error;
  error = show_named(report, folders);
  debug_choice_tell("report", folders);
  debug_folders_close(folders);
  return error;
}

int report_main(int argc, char **argv) {
  static struct report report;
  if (report_settings_parse(argc, argv, &report.settings) != 0) {
    complaint("report: %s", report.settings.error);
    return EXIT_USAGE;
  }
  if (report.settings.is_done) return 0;
  debug_choice_pass_over("report", argc, argv, &report.settings.options.debug);
  signal(SIGPIPE, SIG_IGN);
  arena_init(&report.arena, TREE_BYTES_MAX);
  int error = profile_init(&report.sides[0].profile);
  if (error == 0) error = profile_init(&report.sides[1].profile);
  if (error != 0)
    fprintf(stderr, "fleetprof: report: cannot start: %s\n", strerror(-error));
  else
    error = make(&report);
  for (int i = 0; i < 2; i++) profile_fini(&report.sides[i].profile);
  arena_fini(&report.arena);
  buf_fini(&report.out);
  if (error != 0 || report.is_untranslated) return EXIT_FAILED;
  return report.has_gate ? diff_gate_status(&report.gate) : 0;
}
