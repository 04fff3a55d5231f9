/* SPDX-License-Identifier: Apache-2.0 */
/* The report names the origin of its figures.  So a sampler without samples is named only if none
   has any: a timer that a static program could not load has sampled nothing, although the user
   requested it.  The sampler "none" is never named: its samples come from a sampler that had
   stopped when the batch was closed.

   The names come from an untrusted file: they are cut and cleaned. */
#include "sampler_list.h"

#include "common/buf.h"
#include "common/text.h"
#include "proto/batch.h"

#include <stdio.h>
#include <string.h>

static struct sampler_row *find(struct sampler_list *list, const char *name) {
  for (uint32_t i = 0; i < list->count; i++)
    if (strcmp(list->rows[i].name, name) == 0) return &list->rows[i];
  return NULL;
}

void sampler_list_note(struct sampler_list *list, const struct batch_target *target,
                       uint64_t samples) {
  struct sampler_row fresh = {.asked_mhz = target->asked_mhz};
  snprintf(fresh.name, sizeof fresh.name, "%s", target->sampler);
  text_clean(fresh.name);
  struct sampler_row *row = find(list, fresh.name);
  if (fresh.name[0] == '\0' || (row == NULL && list->count == SAMPLER_LIST_MAX)) return;
  if (row == NULL) {
    row = &list->rows[list->count++];
    *row = fresh;
  }
  row->has_rates |= row->asked_mhz != target->asked_mhz;
  row->samples += samples;
}

static bool can_sample(const struct sampler_row *row) {
  return strcmp(row->name, "none") != 0;
}

/* Selects the rows to name.  Returns their number. */
static uint32_t choose(const struct sampler_list *list, uint32_t ret[SAMPLER_LIST_MAX]) {
  uint64_t sum = 0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < list->count; i++)
    if (can_sample(&list->rows[i])) sum += list->rows[i].samples;
  for (uint32_t i = 0; i < list->count; i++) {
    const struct sampler_row *row = &list->rows[i];
    if (can_sample(row) && (sum == 0 || row->samples > 0)) ret[count++] = i;
  }
  return count;
}

void sampler_list_print(const struct sampler_list *list, struct buf *ret) {
  uint32_t chosen[SAMPLER_LIST_MAX], count = choose(list, chosen);
  if (count == 0) buf_append_string(ret, "no sampler");
  for (uint32_t i = 0; i < count; i++) {
    if (i > 0) buf_append_string(ret, i + 1 < count ? ", " : " and ");
    buf_append_string(ret, list->rows[chosen[i]].name);
  }
}

const struct sampler_row *sampler_list_only(const struct sampler_list *list) {
  uint32_t chosen[SAMPLER_LIST_MAX], count = choose(list, chosen);
  return count == 1 && !list->rows[chosen[0]].has_rates ? &list->rows[chosen[0]] : NULL;
}

bool sampler_list_has(const struct sampler_list *list, const char *name) {
  for (uint32_t i = 0; i < list->count; i++)
    if (strcmp(list->rows[i].name, name) == 0) return true;
  return false;
}
