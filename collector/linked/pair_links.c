/* SPDX-License-Identifier: Apache-2.0 */
/* Functions have internal numbers, so an attacker cannot choose colliding keys. */
#include "pair_links.h"

#include "common/array.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t hash_of(const struct pair_call_key *key) {
  uint32_t flags = (key->is_inlined ? 1U : 0) | (key->is_leaf ? 2U : 0) | (key->is_last ? 4U : 0);
  const uint32_t words[3] = {key->callee, key->caller, flags};
  return table_hash(words, sizeof words, 0);
}

static bool is_same(const struct pair_call_key *a, const struct pair_call_key *b) {
  return a->callee == b->callee && a->caller == b->caller && a->is_inlined == b->is_inlined &&
         a->is_leaf == b->is_leaf && a->is_last == b->is_last;
}

static int grow(struct pair_links *links) {
  if (links->count >= PAIR_LINKS_MAX) return -EOVERFLOW;
  struct pair_link *more = array_grow(links->links, links->count, &links->room, 256, sizeof *more);
  if (more == NULL) return -ENOMEM;
  links->links = more;
  return 0;
}

static int find(struct pair_links *links, const struct pair_call_key *key, uint32_t *ret) {
  uint64_t hash = hash_of(key);
  uint32_t cursor;
  uint32_t at = table_find(&links->by_pair, hash, &cursor);
  while (at != TABLE_NONE && !is_same(&links->links[at].key, key))
    at = table_next(&links->by_pair, hash, &cursor);
  if (at == TABLE_NONE) {
    int error = grow(links);
    if (error == 0) error = table_add(&links->by_pair, hash, links->count);
    if (error != 0) return error;
    at = links->count++;
    links->links[at] = (struct pair_link){.key = *key};
  }
  *ret = at;
  return 0;
}

void pair_links_turn(struct pair_links *links, const char *board, uint64_t start_ms,
                     uint64_t end_ms) {
  groups_turn(&links->units, board, start_ms, end_ms);
}

int pair_links_add(struct pair_links *links, const struct pair_sample *sample) {
  uint32_t at = 0;
  int error = find(links, &sample->key, &at);
  if (error != 0) return error;
  struct pair_link *link = &links->links[at];
  link->count = sum_of(link->count, sample->count);
  link->weight += sample->weight;
  link->rung_weight[sample->rung] += sample->weight;
  if (sample->is_outside) link->outside_weight += sample->weight;
  if (sample->is_unseen) link->unseen_weight += sample->weight;
  if (sample->is_tangled) link->tangled_weight += sample->weight;
  if (sample->is_refuted) link->refuted_weight += sample->weight;
  evidence_add(&link->evidence, sample->count, sample->weight);
  return groups_add(&links->units, at, sample->weight);
}

void pair_links_fini(struct pair_links *links) {
  table_fini(&links->by_pair);
  free(links->links);
  groups_fini(&links->units);
  *links = (struct pair_links){.count = 0};
}
