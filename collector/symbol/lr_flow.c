/* SPDX-License-Identifier: Apache-2.0 */
/* A data-flow analysis. Each path carries a set of possible histories; where paths meet, the sets
   are joined, until nothing changes. "Nothing happened" alone is then true of all paths. That is
   stricter than the scan for unwind tables, which trusts the first path (prologue.c). There a wrong
   guess costs a stack; here it would silently name a wrong caller.

   Code without a branch to it, for example the cases of a switch or a landing pad, is followed with
   an unknown history: it may lead back to the rest. If a computed jump is reached with the register
   overwritten, any place may be its target, so the function gets no result. Most computed jumps are
   tail calls, which reload the register first and leave the function. */
#include "lr_flow.h"

enum {
  SWEEPS_MAX = 24,
  /* The history of an instruction in a delay slot is kept in separate bits while paths are
     followed: no path continues from there. */
  DELAYED_SHIFT = 4,
  FOLLOWED = (1 << DELAYED_SHIFT) - 1,
};

static bool join(struct lr_flow *flow, uint64_t offset, uint8_t history) {
  size_t unit = (size_t)(offset / flow->cpu->step);
  if (offset % flow->cpu->step != 0 || unit >= flow->unit_count) return false;
  uint8_t before = flow->units[unit];
  flow->units[unit] |= history;
  return flow->units[unit] != before;
}

static struct instruction decode(const struct lr_flow *flow, uint64_t offset) {
  struct instruction in = {.bytes = 0};
  struct span rest = {flow->code.data + offset, flow->code.len - (size_t)offset};
  flow->cpu->decode(rest, flow->start + offset, &in);
  return in;
}

/* Returns HISTORY after the instruction's effects. */
static uint8_t apply(const struct lr_flow *flow, const struct instruction *in, uint8_t history) {
  uint8_t after = history, lr = flow->cpu->lr;
  for (unsigned i = 0; i < in->count; i++) {
    const struct effect *effect = &in->effects[i];
    if (effect->to != lr || effect->kind == EFFECT_STORE) continue;
    if (effect->kind == EFFECT_ADD && effect->from == lr && effect->value == 0) continue;
    after = effect->kind == EFFECT_LOAD ? LR_RELOADED : LR_CHANGED;
  }
  return in->condition != 0 ? after | history : after;
}

static bool goes_on(const struct instruction *in) {
  if (in->condition != 0) return true;
  return in->flow == FLOW_ON || in->flow == FLOW_BRANCH || in->flow == FLOW_CALL;
}

static bool is_unknown_jump(const struct instruction *in) {
  return in->flow == FLOW_AWAY || in->flow == FLOW_TABLE;
}

static bool follow(struct lr_flow *flow, uint64_t offset, uint8_t history) {
  struct instruction in = decode(flow, offset);
  uint64_t end = offset + in.bytes;
  uint8_t after = apply(flow, &in, history);
  bool is_changed = false;
  if (in.is_delayed && end < flow->code.len) {
    struct instruction delayed = decode(flow, end);
    is_changed = join(flow, end, (uint8_t)(history << DELAYED_SHIFT));
    after = apply(flow, &delayed, after);
    end += delayed.bytes;
  }
  bool has_target = (in.flow == FLOW_BRANCH || in.flow == FLOW_JUMP) && in.target >= flow->start;
  if (has_target) is_changed |= join(flow, in.target - flow->start, after);
  if (is_unknown_jump(&in) && (after & (LR_CHANGED | LR_UNSEEN)) != 0) flow->is_wild = true;
  if (in.flow == FLOW_CALL) after = in.condition != 0 ? after | LR_CHANGED : LR_CHANGED;
  if (goes_on(&in)) is_changed |= join(flow, end, after);
  return is_changed;
}

static bool sweep(struct lr_flow *flow) {
  bool is_changed = false;
  for (size_t unit = 0; unit < flow->unit_count; unit++)
    if ((flow->units[unit] & FOLLOWED) != 0)
      is_changed |= follow(flow, unit * flow->cpu->step, flow->units[unit] & FOLLOWED);
  return is_changed;
}

static bool settle(struct lr_flow *flow, unsigned *sweeps) {
  while (*sweeps < SWEEPS_MAX) {
    ++*sweeps;
    if (!sweep(flow)) return true;
  }
  return false;
}

/* Marks unreached code. Returns whether there is any. */
static bool mark_unseen(struct lr_flow *flow) {
  bool is_any = false;
  for (uint64_t at = 0; at < flow->code.len;) {
    uint64_t unit = at / flow->cpu->step;
    if (unit >= flow->unit_count) break;
    if (flow->units[unit] == 0) {
      flow->units[unit] = LR_UNSEEN;
      is_any = true;
    }
    struct instruction in = decode(flow, at);
    uint64_t bytes = in.bytes / flow->cpu->step * flow->cpu->step;
    at += bytes > 0 ? bytes : flow->cpu->step;
  }
  return is_any;
}

static void merge_delayed(struct lr_flow *flow) {
  for (size_t unit = 0; unit < flow->unit_count; unit++)
    flow->units[unit] = (flow->units[unit] | flow->units[unit] >> DELAYED_SHIFT) & FOLLOWED;
}

bool lr_flow_run(struct lr_flow *flow) {
  unsigned sweeps = 0;
  flow->is_wild = false;
  if (flow->unit_count == 0) return false;
  flow->units[0] = LR_UNTOUCHED;
  if (!settle(flow, &sweeps)) return false;
  if (mark_unseen(flow) && !settle(flow, &sweeps)) return false;
  merge_delayed(flow);
  return !flow->is_wild;
}
