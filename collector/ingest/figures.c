/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of ingest, and their text.

   Relaxed atomics: each counter is independent. They are updated on the loop and on the workers,
   and read on the thread that makes /metrics. Names and help texts are in the same rows as the
   fields, so none can be forgotten. */
#include "figures.h"

#include "common/buf.h"

#include <inttypes.h>

#define PREFIX "fleetprof_ingest_"

static const char *const refusal_names[] = {
#define X(name, text) [REFUSAL_##name] = text,
    FIGURES_REFUSALS(X)
#undef X
};

static const char *const shed_names[] = {
#define X(name, text) [SHED_##name] = text,
    SHEDDINGS(X)
#undef X
};

static const char *const handshake_names[] = {
#define X(name, text) [HANDSHAKE_##name] = text,
    FIGURES_HANDSHAKES(X)
#undef X
};

const char *figures_refusal_name(enum refusal refusal) {
  return refusal_names[refusal];
}

static void print_heading(struct buf *ret, const char *name, const char *type, const char *help) {
  buf_printf(ret, "# HELP " PREFIX "%s %s\n# TYPE " PREFIX "%s %s\n", name, help, name, type);
}

static void print_one(struct buf *ret, const char *name, atomic_uint_fast64_t *figure) {
  buf_printf(ret, PREFIX "%s %" PRIu64 "\n", name, figures_get(figure));
}

struct labelled {
  const char *name, *label, *help;
  const char *const *values;
  size_t count;
};

static void print_labelled(struct buf *ret, const struct labelled *row,
                           atomic_uint_fast64_t *figures) {
  print_heading(ret, row->name, "counter", row->help);
  for (size_t i = 0; i < row->count; i++)
    buf_printf(ret, PREFIX "%s{%s=\"%s\"} %" PRIu64 "\n", row->name, row->label, row->values[i],
               figures_get(&figures[i]));
}

void figures_print(struct figures *figures, struct buf *ret) {
  static const struct labelled refused = {"refused_total", "reason", "What was refused, by reason.",
                                          refusal_names, REFUSAL_COUNT};
  static const struct labelled handshakes = {"handshakes_total", "result",
                                             "TLS handshakes, by how they ended.", handshake_names,
                                             HANDSHAKE_COUNT};
  static const struct labelled shed = {"shed_batches_total", "reason",
                                       "Batches told to come later, by what was over its limit.",
                                       shed_names, SHED_COUNT};
#define X(name, type, help)              \
  print_heading(ret, #name, type, help); \
  print_one(ret, #name, &figures->name);
  FIGURES_COUNTERS(X)
#undef X
  print_labelled(ret, &refused, figures->refused);
  print_labelled(ret, &handshakes, figures->handshakes);
  print_labelled(ret, &shed, figures->shed);
}
