/* SPDX-License-Identifier: Apache-2.0 */
/* Likeness, best first: equal except for the case of letters; a letter or two wrong, missing or too
   many; one name contains the other (the more of it the better); a common beginning of three or
   more letters. Each is computed in one pass over a name, because there may be a million. */
#include "near_names.h"

#include "common/cutoff.h"

#include <string.h>
#include <strings.h>

enum {
  SLIPS_MAX = 2,
  BEGINNING_MIN = 3,
  /* Scores; within a kind the likeness is added. */
  SCORE_CASE = 40000,
  SCORE_SLIP = 30000,
  SCORE_PART = 20000,
  SCORE_BEGINNING = 10000,
  LIKENESS_MAX = 9999,
};

/* Whether A and B are the same but for SLIPS letters: a letter that is wrong, missing or too many
   is stepped over on either side. */
static bool is_slip(const char *a, const char *b, unsigned slips) {
  while (*a != '\0' && *a == *b) {
    a++;
    b++;
  }
  if (*a == '\0' && *b == '\0') return true;
  if (slips == 0) return false;
  return (*a != '\0' && *b != '\0' && is_slip(a + 1, b + 1, slips - 1)) ||
         (*a != '\0' && is_slip(a + 1, b, slips - 1)) ||
         (*b != '\0' && is_slip(a, b + 1, slips - 1));
}

static unsigned likeness(size_t same, size_t of) {
  return of > 0 ? (unsigned)(LIKENESS_MAX * same / of) : 0;
}

static unsigned score_of(const char *name, const char *wanted) {
  size_t len = strlen(name), wanted_len = strlen(wanted), same = 0;
  size_t longer = len > wanted_len ? len : wanted_len, shorter = len + wanted_len - longer;
  if (strcasecmp(name, wanted) == 0) return SCORE_CASE;
  for (unsigned slips = 1; slips <= SLIPS_MAX && wanted_len > BEGINNING_MIN; slips++)
    if (longer - shorter <= slips && is_slip(name, wanted, slips)) return SCORE_SLIP - slips;
  bool is_part =
      shorter >= BEGINNING_MIN && (strstr(name, wanted) != NULL || strstr(wanted, name) != NULL);
  if (is_part) return SCORE_PART + likeness(shorter, longer);
  while (same < shorter && name[same] == wanted[same]) same++;
  return same >= BEGINNING_MIN ? SCORE_BEGINNING + likeness(same, longer) : 0;
}

struct ranked {
  const char *name;
  unsigned score;
};

static void insert(struct ranked best[NEAR_NAMES_MAX], struct ranked entry) {
  for (unsigned i = 0; i < NEAR_NAMES_MAX && entry.score > 0; i++) {
    if (best[i].name != NULL && strcmp(best[i].name, entry.name) == 0) return;
    if (best[i].score >= entry.score) continue;
    struct ranked pushed = best[i];
    best[i] = entry;
    entry = pushed;
  }
}

unsigned near_names_find(const struct view_function *functions, uint32_t count, const char *wanted,
                         const struct cutoff *cutoff, const char *ret[NEAR_NAMES_MAX]) {
  struct ranked best[NEAR_NAMES_MAX] = {{0}};
  unsigned found = 0;
  for (uint32_t i = 1; i < count && !cutoff_is_at(cutoff, i); i++)
    insert(best, (struct ranked){functions[i].name, score_of(functions[i].name, wanted)});
  while (found < NEAR_NAMES_MAX && best[found].score > 0) {
    ret[found] = best[found].name;
    found++;
  }
  return found;
}
