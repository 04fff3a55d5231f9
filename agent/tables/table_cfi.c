/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over a section. A CIE is parsed at its first function, and cached in one of a few
   places: the functions of a C++ program alternate between two or three, those of .debug_frame are
   in runs of one. If a malicious file defeats the cache, each miss costs only a CIE's letters and
   program, which are limited. */
#include "table_cfi.h"

#include "cfi_program.h"

#include <errno.h>

enum { KEPT_CIES = 16 };

/* The offset of its CIE plus one; 0: an empty place. */
struct kept_cie {
  size_t at_plus_1;
  const char *why; /* reason of rejection, or NULL */
  struct cfi_cie cie;
};

struct reading {
  struct cfi_run run;
  struct kept_cie kept[KEPT_CIES];
};

static const char *read_cie(const struct cfi_section *section, size_t at, struct cfi_cie *ret) {
  struct cfi_entry entry;
  if (cfi_section_next(section, &at, &entry) != 1 || !entry.is_cie)
    return "a function whose CIE is none";
  const char *why = cfi_section_cie(section, &entry, ret);
  return why != NULL ? why : cfi_program_begin(section, ret);
}

static const struct kept_cie *find_cie(struct reading *reading, size_t at) {
  struct kept_cie *kept = &reading->kept[at / 8 % KEPT_CIES];
  if (kept->at_plus_1 == at + 1) return kept;
  kept->why = read_cie(reading->run.section, at, &kept->cie);
  kept->at_plus_1 = at + 1;
  return kept;
}

/* Linkers leave entries of discarded functions: at 0, or at the last addresses. */
static bool is_discarded(const struct cfi_function *function, uint8_t word_bytes) {
  uint64_t last = word_bytes == 4 ? UINT32_MAX : UINT64_MAX;
  return function->bytes == 0 || function->start <= 1 || function->start >= last - 1;
}

/* The kernel's frame may be at another offset than in a CPU's file: on ARM it begins with a siginfo
   only if the handler requested one. If the CIE gives the place of the interrupted code's stack
   pointer, the difference is known. */
static struct unwind_rule after_signal(const struct cfi_cie *cie, const struct unwind_arch *arch) {
  struct unwind_rule rule = {.cfa = UNWIND_CFA_SIGNAL};
  const struct cfi_address *cfa = &cie->initial.cfa;
  const struct cfi_saved *sp = &cie->initial.columns[CFI_SP];
  bool is_told = cfa->base == CFI_BASE_SP && !cfa->is_word && !cfa->is_plt &&
                 sp->how == CFI_SAVED && sp->at.base == CFI_BASE_CFA && !sp->at.is_word;
  if (is_told)
    rule.offset = (int32_t)((uint64_t)cfa->offset + (uint64_t)sp->at.offset - arch->signal.sp);
  return rule;
}

static int tell(struct reading *reading, const struct cfi_cie *cie,
                const struct cfi_function *function, const char **ret_why) {
  struct table_rows *rows = reading->run.rows;
  if (is_discarded(function, cie->word_bytes)) return 0;
  if (function->start > UINT64_MAX - function->bytes) {
    *ret_why = "a function larger than the address space";
    return -EBADMSG;
  }
  int rc = table_rows_function(rows, function->start, function->start + function->bytes);
  if (rc == -ERANGE) {
    *ret_why = "a function outside of the module's code";
    return -EBADMSG;
  }
  if (rc < 0) return rc == -EEXIST ? 0 : rc;
  reading->run.report->functions++;
  if (cie->is_signal) {
    struct unwind_rule rule = after_signal(cie, reading->run.section->arch);
    return table_rows_put(rows, function->start, &rule);
  }
  rc = cfi_program_run(&reading->run, cie, function, ret_why);
  if (rc < 0) table_rows_drop(rows);
  return rc;
}

static int read_function(struct reading *reading, const struct cfi_entry *entry) {
  const char *why = "a function whose CIE is not before it";
  struct cfi_function function;
  int rc = -EBADMSG;
  if (entry->cie_at < reading->run.section->bytes.len) {
    const struct kept_cie *kept = find_cie(reading, entry->cie_at);
    why = kept->why;
    if (why == NULL) why = cfi_section_function(reading->run.section, entry, &kept->cie, &function);
    if (why == NULL) rc = tell(reading, &kept->cie, &function, &why);
  }
  if (rc != -EBADMSG) return rc;
  table_report_refuse(reading->run.report, why);
  return 0;
}

int table_cfi_read(const struct cfi_section *section, struct table_rows *rows,
                   struct table_report *report) {
  struct reading reading = {.run = {.section = section, .rows = rows, .report = report}};
  struct cfi_entry entry;
  size_t at = 0;
  int rc = 1;
  while (rc == 1) {
    rc = cfi_section_next(section, &at, &entry);
    if (rc == 1 && entry.body.is_over) {
      table_report_refuse(report, "an entry that is cut");
    } else if (rc == 1 && !entry.is_cie) {
      int told = read_function(&reading, &entry);
      if (told < 0) return told;
    }
  }
  if (rc < 0) table_report_refuse(report, "an entry that reaches beyond its section");
  return 0;
}
