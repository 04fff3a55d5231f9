/* SPDX-License-Identifier: Apache-2.0 */
/* Follows a function from its start, where the calling convention gives the frame, and tracks its
   registers. A register holds a number, the frame's address plus a number, its initial value, or an
   unknown value.

   The state at a branch also applies at its target, and the first state of an address is kept. Only
   if two paths reach an address with different stack pointers, as in a loop that pushes, the stack
   pointer is unknown there. The code after a call does not count as such a path: the call may never
   return. A sweep goes over the function once. If a branch led backwards to unreached code, another
   sweep follows. Unreached code (the cases of a switch, a landing pad) gets a state in the last
   sweep: the frame of the preceding code in its middle, at its last call or branch, because an
   epilogue has neither.

   A conditional instruction is followed as if its condition held. At the end of a run of
   conditional instructions only the state common to both cases stays. After a conditional return
   the state is that before the run.

   The result is a guess of the compiler's intent, not a proof. It is used only if no better source
   describes the code. */
#include "prologue.h"

#include <stdlib.h>

enum {
  UNITS_MAX = 1 << 20,  /* in instruction steps: 1 MiB of x86-64, 2 MiB of ARM's Thumb */
  STATES_MAX = 1 << 12, /* distinct states at branches */
  FIRST_STATES = 64,
  SWEEPS_MAX = 4,
  MOVES_MAX = 1 << 12,     /* of the stack pointer, in one sweep */
  START_INSTRUCTIONS = 16, /* within which a function must begin to make its frame */
  ALIGNMENT = 16,          /* of functions on a CPU without any other sign of a start */
};

/* In the map of a function's units; other values are the number of a state, from 1 on. */
enum { UNIT_NEW = 0, UNIT_DATA = 0xffff, UNIT_SEEN = 0xfffe };

/* From offset AT on, the stack pointer is SP. */
struct move {
  uint64_t at;
  struct prologue_value sp;
};

struct prologue_scan {
  uint16_t *units;
  size_t unit_cap, end; /* END: upper bound of the units that are not UNIT_NEW */
  struct prologue_state *states;
  uint32_t count, cap; /* of states */
  struct move *moves;  /* of this sweep, by offset; none in unreached code */
  uint32_t move_count, move_cap;
  const struct prologue_function *function;
  uint64_t bytes;      /* bytes of the function that are examined */
  uint64_t at;         /* offset */
  uint64_t last;       /* the highest offset that is a target */
  bool is_live;        /* the current code is reached */
  bool is_last;        /* last sweep: unreached code is guessed */
  bool is_short;       /* a branch led back to unreached code */
  bool has_switch;     /* code may follow that only a table reaches */
  uint8_t before_flow; /* of the previous instruction; no-ops do not count */
  struct prologue_state state, before, body;
  uint8_t condition; /* of the current run, which started with BEFORE */
};

struct prologue_scan *prologue_scan_new(void) {
  return calloc(1, sizeof(struct prologue_scan));
}

void prologue_scan_free(struct prologue_scan *scan) {
  if (scan == NULL) return;
  free(scan->units);
  free(scan->states);
  free(scan->moves);
  free(scan);
}

static uint16_t *unit(struct prologue_scan *scan, uint64_t offset) {
  return &scan->units[offset / scan->function->cpu->step];
}

static void mark(struct prologue_scan *scan, uint64_t offset, uint16_t what) {
  if (*unit(scan, offset) != UNIT_NEW) return;
  *unit(scan, offset) = what;
  size_t end = (size_t)(offset / scan->function->cpu->step) + 1;
  if (end > scan->end) scan->end = end;
}

static bool grow_states(struct prologue_scan *scan) {
  uint32_t cap = scan->cap == 0 ? FIRST_STATES : 2 * scan->cap;
  if (cap > STATES_MAX) return false;
  struct prologue_state *more = realloc(scan->states, cap * sizeof *more);
  if (more == NULL) return false;
  scan->states = more;
  scan->cap = cap;
  return true;
}

/* The number of a state equal to the current one, or UNIT_SEEN if there is no room. */
static uint16_t keep_state(struct prologue_scan *scan) {
  if (scan->count > 0 &&
      memcmp(&scan->states[scan->count - 1], &scan->state, sizeof scan->state) == 0)
    return (uint16_t)scan->count;
  if (scan->count == scan->cap && !grow_states(scan)) return UNIT_SEEN;
  scan->states[scan->count++] = scan->state;
  return (uint16_t)scan->count;
}

static struct prologue_value sp_of(const struct prologue_scan *scan,
                                   const struct prologue_state *state) {
  return state->registers[scan->function->cpu->sp];
}

static bool is_same_value(struct prologue_value a, struct prologue_value b) {
  return a.kind == b.kind && a.offset == b.offset;
}

static void note_move(struct prologue_scan *scan) {
  struct prologue_value sp = sp_of(scan, &scan->state);
  if (scan->move_count > 0 && is_same_value(scan->moves[scan->move_count - 1].sp, sp)) return;
  if (scan->move_count == scan->move_cap) {
    uint32_t cap = scan->move_cap == 0 ? FIRST_STATES : 2 * scan->move_cap;
    if (cap > MOVES_MAX) return;
    struct move *more = realloc(scan->moves, cap * sizeof *more);
    if (more == NULL) return;
    scan->moves = more;
    scan->move_cap = cap;
  }
  scan->moves[scan->move_count++] = (struct move){scan->at, sp};
}

/* The stack pointer with which this sweep passed OFFSET; the current one if it has not. */
static struct prologue_value sp_at(const struct prologue_scan *scan, uint64_t offset) {
  uint32_t first = 0, end = scan->move_count;
  while (first < end) {
    uint32_t middle = first + (end - first) / 2;
    if (scan->moves[middle].at <= offset)
      first = middle + 1;
    else
      end = middle;
  }
  bool is_passed = first > 0 && offset <= scan->at;
  return is_passed ? scan->moves[first - 1].sp : sp_of(scan, &scan->state);
}

/* Another path reaches OFFSET, which has a state: if it comes with another stack pointer, that
   becomes unknown. Returns true if that is a change. */
static bool join(struct prologue_scan *scan, uint64_t offset) {
  uint16_t known = *unit(scan, offset);
  const struct prologue_state now = scan->state;
  if (known == UNIT_NEW || known == UNIT_DATA) return false;
  const struct prologue_state *before = known == UNIT_SEEN ? NULL : &scan->states[known - 1];
  struct prologue_value sp = before != NULL ? sp_of(scan, before) : sp_at(scan, offset);
  if (sp.kind == PROLOGUE_UNKNOWN || is_same_value(sp, sp_of(scan, &now))) return false;
  if (before != NULL) prologue_state_agree(&scan->state, before);
  scan->state.registers[scan->function->cpu->sp].kind = PROLOGUE_UNKNOWN;
  scan->state.registers[scan->function->cpu->sp].offset = 0;
  *unit(scan, offset) = keep_state(scan);
  scan->state = now;
  return true;
}

/* The current state applies at ADDRESS. IS_TAIL: it may be another function. */
static void lead_to(struct prologue_scan *scan, uint64_t address, bool is_tail) {
  uint64_t offset = address - scan->function->start;
  if (address < scan->function->start || offset >= scan->bytes) return;
  if (offset % scan->function->cpu->step != 0) return;
  if (offset > scan->last && !is_tail) scan->last = offset;
  bool is_new = *unit(scan, offset) == UNIT_NEW;
  if (is_new) mark(scan, offset, keep_state(scan));
  bool is_joined = !is_new && !is_tail && join(scan, offset);
  if ((is_new || is_joined) && offset <= scan->at) scan->is_short = true;
}

/* Applies the current state at the addresses in the table at offset TABLE: each entry is half of a
   distance from the table. The table ends where the nearest target begins. */
static void lead_by_table(struct prologue_scan *scan, uint64_t table, unsigned entry_bytes) {
  uint64_t end = scan->bytes;
  for (uint64_t at = table; at + entry_bytes <= end; at += entry_bytes) {
    const uint8_t *entry = scan->function->code.data + at;
    struct span distance = span_of(entry, entry_bytes);
    uint64_t place = table + 2 * span_number(distance, scan->function->is_big_endian);
    if (place <= at) break;
    if (place < end) end = place;
    lead_to(scan, scan->function->start + place, false);
    mark(scan, at, UNIT_DATA);
  }
}

static void note_data(struct prologue_scan *scan, uint64_t address) {
  uint64_t offset = address - scan->function->start, step = scan->function->cpu->step;
  if (address < scan->function->start || offset % step != 0) return;
  for (uint64_t end = offset + 4; offset < end && offset < scan->bytes; offset += step)
    mark(scan, offset, UNIT_DATA);
}

static void go_nowhere(struct prologue_scan *scan) {
  scan->is_live = false;
  scan->condition = 0;
}

/* Follows the flow of INSTRUCTION; its effects are already in the state. */
static void flow(struct prologue_scan *scan, const struct instruction *in) {
  const struct instruction_cpu *cpu = scan->function->cpu;
  bool is_bare = prologue_state_is_bare(cpu, &scan->state);
  bool may_go_on = scan->condition != 0;
  if (in->flow == FLOW_BRANCH || in->flow == FLOW_CALL || (in->flow == FLOW_JUMP && may_go_on) ||
      (in->flow == FLOW_AWAY && !is_bare) || in->flow == FLOW_TABLE)
    scan->body = scan->state;
  if (in->flow == FLOW_BRANCH || in->flow == FLOW_JUMP)
    lead_to(scan, in->target, is_bare && in->flow == FLOW_JUMP && !may_go_on);
  if (in->flow == FLOW_CALL) prologue_state_call(cpu, &scan->state);
  if (in->flow == FLOW_AWAY && !is_bare) scan->has_switch = true;
  if (in->flow == FLOW_TABLE) lead_by_table(scan, scan->at + in->bytes, in->table_entry_bytes);
  if (in->flow == FLOW_ON || in->flow == FLOW_BRANCH || in->flow == FLOW_CALL) return;
  if (may_go_on)
    scan->state = scan->before;
  else
    go_nowhere(scan);
}

/* A run of instructions under one condition begins, continues or ends. */
static void change_condition(struct prologue_scan *scan, uint8_t condition) {
  if (condition == scan->condition) return;
  if (scan->condition != 0) prologue_state_agree(&scan->state, &scan->before);
  scan->before = scan->state;
  scan->condition = condition;
}

static struct instruction decode(const struct prologue_function *function, uint64_t offset) {
  struct instruction in = {.bytes = 0};
  struct span rest = {function->code.data + offset, function->code.len - (size_t)offset};
  function->cpu->decode(rest, function->start + offset, &in);
  return in;
}

/* Handles the instruction at AT, and its delay slot, if any. Returns the end of both. */
static uint64_t step(struct prologue_scan *scan, const struct instruction *in, uint64_t at) {
  const struct instruction_cpu *cpu = scan->function->cpu;
  uint64_t end = at + in->bytes;
  if (in->literal != 0) note_data(scan, in->literal);
  prologue_state_step(cpu, &scan->state, in);
  mark(scan, at, UNIT_SEEN);
  if (in->is_delayed && end < scan->bytes) {
    struct instruction delayed = decode(scan->function, end);
    prologue_state_step(cpu, &scan->state, &delayed);
    mark(scan, end, UNIT_SEEN);
    end += delayed.bytes;
  }
  flow(scan, in);
  return end;
}

/* Applies the instruction at OFFSET, and its delay slot, if any, to STATE. Returns its flow. */
static uint8_t step_over(const struct prologue_function *function, uint64_t *offset,
                         struct prologue_state *state) {
  struct instruction in = decode(function, *offset);
  prologue_state_step(function->cpu, state, &in);
  *offset += in.bytes;
  if (in.is_delayed && *offset < function->code.len) {
    struct instruction delayed = decode(function, *offset);
    prologue_state_step(function->cpu, state, &delayed);
    *offset += delayed.bytes;
  }
  return in.flow;
}

enum prologue_start prologue_start_at(const struct prologue_function *function) {
  const struct instruction_cpu *cpu = function->cpu;
  enum prologue_start ret = PROLOGUE_NO_START;
  struct prologue_state state;
  prologue_state_enter(cpu, &state);
  int64_t start = state.registers[cpu->sp].offset;
  uint64_t offset = 0;
  for (unsigned i = 0; i < START_INSTRUCTIONS && offset < function->code.len; i++) {
    uint8_t flow = step_over(function, &offset, &state);
    struct prologue_value sp = state.registers[cpu->sp];
    if (sp.kind != PROLOGUE_FRAME || sp.offset > start) break;
    if (sp.offset < start) ret = PROLOGUE_FRAME_START;
    bool is_saved = cpu->lr == INSTRUCTION_NO_REGISTER ? function->start % ALIGNMENT == 0
                                                       : state.saved_lr != PROLOGUE_NOT_SAVED;
    if (ret != PROLOGUE_NO_START && is_saved) return PROLOGUE_SURE_START;
    if (flow == FLOW_RETURN && ret == PROLOGUE_NO_START) return PROLOGUE_FRAME_START;
    if (flow != FLOW_ON && flow != FLOW_BRANCH) break;
  }
  return ret;
}

static enum prologue_start start_at(const struct prologue_scan *scan, uint64_t offset) {
  struct prologue_function next = *scan->function;
  next.code.data += offset;
  next.code.len -= (size_t)offset;
  next.start += offset;
  return prologue_start_at(&next);
}

/* Loads the state of the unit at AT; false: it is data. */
static bool arrive(struct prologue_scan *scan, uint64_t at) {
  uint16_t known = *unit(scan, at);
  scan->at = at;
  if (known == UNIT_DATA) {
    go_nowhere(scan);
    return false;
  }
  if (known != UNIT_NEW && known != UNIT_SEEN) {
    if (scan->is_live && scan->before_flow != FLOW_CALL && join(scan, at)) known = *unit(scan, at);
    if (known != UNIT_SEEN) scan->state = scan->states[known - 1];
    scan->is_live = true;
    scan->condition = 0;
  } else if (!scan->is_live && scan->is_last) {
    scan->state = scan->function->body != NULL ? *scan->function->body : scan->body;
    scan->is_live = true;
  }
  return true;
}

/* True if another function begins at AT. Nothing reaches it but the return of a call, which may
   never come back. Also, no branch goes beyond it, or it looks like a start. */
static bool is_over(struct prologue_scan *scan, uint64_t at) {
  bool is_called = scan->before_flow == FLOW_CALL;
  if (!scan->function->is_open || (scan->is_live && !is_called)) return false;
  if (at > scan->last && !scan->has_switch && !scan->is_live) return true;
  if (scan->before_flow == FLOW_ON || scan->before_flow == FLOW_BRANCH) return false;
  enum prologue_start start = start_at(scan, at);
  return start == PROLOGUE_SURE_START ||
         (start != PROLOGUE_NO_START && at > scan->last && !scan->is_live);
}

/* Unreached bytes from AT to END are decoded as an instruction: that is wrong if a branch leads
   into them. */
static uint64_t align(struct prologue_scan *scan, uint64_t at, uint64_t end) {
  if (end > scan->bytes) end = scan->bytes;
  for (at += scan->function->cpu->step; at < end; at += scan->function->cpu->step)
    if (*unit(scan, at) != UNIT_NEW) return at;
  return end;
}

static void start_sweep(struct prologue_scan *scan) {
  prologue_state_enter(scan->function->cpu, &scan->state);
  scan->body = scan->state;
  scan->condition = 0;
  scan->is_live = true;
  scan->is_short = false;
  scan->move_count = 0;
  scan->before_flow = FLOW_ON;
}

/* Reports the state before IN. At a thread's start a register holds the function to call, and the
   return address is not saved: there is none. */
static void tell(struct prologue_scan *scan, const struct instruction *in, prologue_each *each,
                 void *context) {
  bool is_by_register = in->flow == FLOW_CALL && in->target == 0 && scan->condition == 0;
  scan->state.is_root =
      is_by_register && prologue_state_would_lose(scan->function->cpu, &scan->state);
  each(context, scan->function->start + scan->at, &scan->state);
  scan->state.is_root = false;
}

static void sweep(struct prologue_scan *scan, prologue_each *each, void *context) {
  uint32_t coming = 0;
  uint64_t end = 0;
  start_sweep(scan);
  for (uint64_t at = 0; at < scan->bytes; at = end) {
    end = at + scan->function->cpu->step;
    if (!arrive(scan, at)) continue;
    if (is_over(scan, at)) {
      scan->bytes = at;
      return;
    }
    struct instruction in = decode(scan->function, at);
    change_condition(scan, coming != 0 ? coming & 0xff : in.condition);
    coming = in.coming != 0 ? in.coming : coming >> 8;
    if (scan->is_live) note_move(scan);
    if (scan->is_last) tell(scan, &in, each, context);
    if (in.flow != FLOW_ON || in.count > 0) scan->before_flow = in.flow;
    end =
        scan->is_live ? step(scan, &in, at) : align(scan, at, at + in.bytes * (1U + in.is_delayed));
  }
}

/* Makes room for COUNT new units. The previous function has used some. */
static void clear_units(struct prologue_scan *scan, size_t count) {
  if (scan->end > 0) memset(scan->units, 0, scan->end * sizeof *scan->units);
  scan->end = 0;
  if (count <= scan->unit_cap) return;
  uint16_t *more = realloc(scan->units, count * sizeof *more);
  if (more == NULL) return;
  memset(more + scan->unit_cap, 0, (count - scan->unit_cap) * sizeof *more);
  scan->units = more;
  scan->unit_cap = count;
}

/* If memory is short, only the part of a function with units is followed. */
static void start_scan(struct prologue_scan *scan, const struct prologue_function *function) {
  uint64_t step = function->cpu->step;
  scan->function = function;
  scan->bytes = function->bytes < function->code.len ? function->bytes : function->code.len;
  if (scan->bytes > UNITS_MAX * step) scan->bytes = UNITS_MAX * step;
  clear_units(scan, (size_t)((scan->bytes + step - 1) / step));
  if (scan->bytes > scan->unit_cap * step) scan->bytes = scan->unit_cap * step;
  scan->count = 0;
  scan->last = 0;
  scan->has_switch = scan->is_last = false;
}

uint64_t prologue_scan_function(struct prologue_scan *scan,
                                const struct prologue_function *function) {
  start_scan(scan, function);
  for (unsigned i = 0; i < SWEEPS_MAX; i++) {
    sweep(scan, NULL, NULL);
    if (!scan->is_short) break;
  }
  return scan->bytes;
}

void prologue_scan_tell(struct prologue_scan *scan, prologue_each *each, void *context) {
  scan->is_last = true;
  sweep(scan, each, context);
}
