/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes protobuf to struct batch, from an untrusted board. The order of steps makes sure that no
   unchecked value causes an allocation:

     length       against LIMIT_BATCH_RAW_BYTES
     outline      submessages are counted on the raw bytes, before protobuf-c makes structs of them
     unpack       into the arena, with its memory limit
     values       every string, number and index; columns cell by cell, to their last byte

   Before their arrays are allocated, counts of nodes and samples are compared with their limits and
   with the length of their columns: a cell takes at least a byte. The resulting tree has parents
   first and no stack deeper than LIMIT_STACK_DEPTH; the sums of counts and weights fit a signed
   64-bit column. */
#include "batch_codec.h"
#include "common/arena.h"
#include "limits.h"
#include "unpack.h"
#include "varint.h"

#include <errno.h>

/* Field numbers of Batch (profile.proto) that the outline counts. */
enum { FIELD_MODULES = 7, FIELD_TARGETS = 8, FIELD_THREADS = 9, FIELD_COUNTED_END };

/* Protobuf's wire types. */
enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct column {
  struct span cells;
  const char *name;
};

/* Skips the value of one field. Returns false if it is truncated or of an unknown type. */
static bool skip_value(struct span *bytes, unsigned wire_type) {
  struct span value;
  uint64_t number = 0;
  switch (wire_type) {
  case WIRE_VARINT:
    return varint_decode(bytes, &number) == 0;
  case WIRE_FIXED64:
    return span_take(bytes, 8, &value);
  case WIRE_FIXED32:
    return span_take(bytes, 4, &value);
  case WIRE_BYTES:
    return varint_decode(bytes, &number) == 0 && number <= bytes->len &&
           span_take(bytes, (size_t)number, &value);
  default:
    return false;
  }
}

static void check_outline(struct unpack *unpack, struct span bytes) {
  uint64_t counts[FIELD_COUNTED_END] = {0};
  while (bytes.len > 0) {
    uint64_t tag;
    if (varint_decode(&bytes, &tag) != 0 || !skip_value(&bytes, tag & 7)) {
      unpack_refuse(unpack, -EBADMSG, "not a protobuf message of type Batch");
      return;
    }
    if (tag >> 3 < FIELD_COUNTED_END) counts[tag >> 3]++;
  }
  unpack_number(unpack, counts[FIELD_MODULES], "number of modules", LIMIT(LIMIT_BATCH_MODULES));
  unpack_number(unpack, counts[FIELD_TARGETS], "number of targets", LIMIT(LIMIT_BATCH_TARGETS));
  unpack_number(unpack, counts[FIELD_THREADS], "number of threads", LIMIT(LIMIT_BATCH_THREADS));
}

static void unpack_times(struct unpack *unpack, const Fleetprof__Batch *in, struct batch *batch) {
  batch->start_boottime_ns =
      unpack_number(unpack, in->start_boottime_ns, "window start", LIMIT(COUNT_MAX));
  batch->end_boottime_ns =
      unpack_number(unpack, in->end_boottime_ns, "window end", LIMIT(COUNT_MAX));
  batch->start_walltime_ns =
      unpack_number(unpack, in->start_walltime_ns, "window start (wall time)", LIMIT(COUNT_MAX));
  batch->end_walltime_ns =
      unpack_number(unpack, in->end_walltime_ns, "window end (wall time)", LIMIT(COUNT_MAX));
  if (in->start_boottime_ns > in->end_boottime_ns)
    unpack_refuse(unpack, -EBADMSG, "the window ends before it starts");
}

static void unpack_modules(struct unpack *unpack, const Fleetprof__Batch *in, struct batch *batch) {
  struct batch_module *modules = unpack_array(unpack, in->n_modules, sizeof *modules);
  for (size_t i = 0; unpack->error == 0 && i < in->n_modules; i++) {
    const Fleetprof__Module *module = in->modules[i];
    if (module->kind > MODULE_PSEUDO)
      unpack_refuse(unpack, -EBADMSG, "module %zu is of unknown kind %u", i, module->kind);
    else if ((module->id.len > 0) != (module->kind == MODULE_ELF))
      unpack_refuse(unpack, -EBADMSG, "module %zu: only ELF modules have an id, and all do", i);
    modules[i].id = unpack_bytes(unpack, module->id, "module id", LIMIT(LIMIT_MODULE_ID_BYTES));
    modules[i].path = unpack_text(unpack, module->path, "module path", LIMIT(LIMIT_PATH_BYTES));
    modules[i].size_bytes = unpack_number(unpack, module->size, "module size", LIMIT(COUNT_MAX));
    modules[i].kind = (enum module_kind)module->kind;
  }
  batch->modules = modules;
  batch->module_count = (uint32_t)in->n_modules;
}

static void unpack_target(struct unpack *unpack, const Fleetprof__Target *in, uint32_t module_count,
                          struct batch_target *target) {
  if (in->module > module_count)
    unpack_refuse(unpack, -EBADMSG, "a target's module %u is not in the table of %u", in->module,
                  module_count);
  target->module = in->module == 0 ? BATCH_NONE : in->module - 1;
  target->service = unpack_text(unpack, in->service, "service", LIMIT(LIMIT_NAME_BYTES));
  target->exe = unpack_text(unpack, in->exe, "exe", LIMIT(LIMIT_PATH_BYTES));
  target->labels = unpack_labels(unpack, in->labels, in->n_labels);
  target->label_count = (uint32_t)in->n_labels;
  target->sampler = unpack_text(unpack, in->sampler, "sampler", LIMIT(LIMIT_NAME_BYTES));
  target->asked_mhz = in->asked_mhz;
  target->achieved_mhz = in->achieved_mhz;
  target->why = unpack_text(unpack, in->why, "why", LIMIT(LIMIT_VALUE_BYTES));
  target->marks = in->marks & MARKS_KNOWN;
}

static void unpack_targets(struct unpack *unpack, const Fleetprof__Batch *in, struct batch *batch) {
  struct batch_target *targets = unpack_array(unpack, in->n_targets, sizeof *targets);
  for (size_t i = 0; unpack->error == 0 && i < in->n_targets; i++)
    unpack_target(unpack, in->targets[i], batch->module_count, &targets[i]);
  batch->targets = targets;
  batch->target_count = (uint32_t)in->n_targets;
}

static void unpack_threads(struct unpack *unpack, const Fleetprof__Batch *in, struct batch *batch) {
  struct batch_thread *threads = unpack_array(unpack, in->n_threads, sizeof *threads);
  for (size_t i = 0; unpack->error == 0 && i < in->n_threads; i++) {
    threads[i].target = in->threads[i]->target;
    threads[i].name =
        unpack_text(unpack, in->threads[i]->name, "thread name", LIMIT(LIMIT_NAME_BYTES));
    if (threads[i].target >= batch->target_count)
      unpack_refuse(unpack, -EBADMSG, "thread %zu: target %u is not in the table of %u", i,
                    threads[i].target, batch->target_count);
  }
  batch->threads = threads;
  batch->thread_count = (uint32_t)in->n_threads;
}

static struct column column_of(ProtobufCBinaryData cells, const char *name) {
  return (struct column){span_of(cells.data, cells.len), name};
}

/* Rejects a column that cannot hold COUNT cells, before anything is allocated for them. */
static void column_check(struct unpack *unpack, const struct column *column, uint32_t count) {
  if (column->cells.len < count)
    unpack_refuse(unpack, -EBADMSG, "column %s has %zu bytes for %u cells", column->name,
                  column->cells.len, count);
}

static uint64_t column_next_long(struct unpack *unpack, struct column *column) {
  uint64_t cell = 0;
  if (unpack->error == 0 && varint_decode(&column->cells, &cell) != 0)
    unpack_refuse(unpack, -EBADMSG, "column %s ends inside a cell", column->name);
  return cell;
}

/* Nearly all cells have one byte: they need no call. */
static inline uint64_t column_next(struct unpack *unpack, struct column *column) {
  if (column->cells.len == 0 || column->cells.data[0] >= 0x80)
    return column_next_long(unpack, column);
  column->cells.len--;
  return *column->cells.data++;
}

static void column_end(struct unpack *unpack, const struct column *column) {
  if (column->cells.len > 0)
    unpack_refuse(unpack, -EBADMSG, "column %s has %zu bytes too many", column->name,
                  column->cells.len);
}

static uint32_t refuse_index(struct unpack *unpack, const struct column *column, uint64_t index,
                             uint32_t table_count) {
  unpack_refuse(unpack, -EBADMSG, "column %s: %ju is not in the table of %u", column->name,
                (uintmax_t)index, table_count);
  return 0;
}

/* Reads a cell that must be below TABLE_COUNT, the size of a table. */
static inline uint32_t column_index(struct unpack *unpack, struct column *column,
                                    uint32_t table_count) {
  uint64_t index = column_next(unpack, column);
  return index < table_count ? (uint32_t)index : refuse_index(unpack, column, index, table_count);
}

/* The state to which node cells are relative. */
struct node_reader {
  struct column depths, modules, addresses;
  uint32_t path[LIMIT_STACK_DEPTH]; /* the last node, and its ancestors, by depth */
  uint64_t next_depth;              /* of a child of the last node */
  uint32_t last_module;
  uint64_t *last_address; /* by module */
};

static uint32_t read_parent(struct unpack *unpack, struct node_reader *reader, uint32_t place) {
  uint64_t rise = column_next(unpack, &reader->depths);
  if (rise > reader->next_depth) {
    unpack_refuse(unpack, -EBADMSG, "node %u hangs above the root", place);
    return BATCH_NONE;
  }
  uint64_t depth = reader->next_depth - rise;
  if (depth >= LIMIT_STACK_DEPTH) {
    unpack_refuse(unpack, -EOVERFLOW, "node %u is deeper than LIMIT_STACK_DEPTH, %d", place,
                  LIMIT_STACK_DEPTH);
    return BATCH_NONE;
  }
  reader->path[depth] = place;
  reader->next_depth = depth + 1;
  return depth == 0 ? BATCH_NONE : reader->path[depth - 1];
}

static uint32_t read_module(struct unpack *unpack, struct node_reader *reader,
                            uint32_t module_count) {
  uint32_t cell = column_index(unpack, &reader->modules, module_count + 1);
  uint32_t module = cell == 0 ? reader->last_module : cell - 1;
  if (module >= module_count)
    unpack_refuse(unpack, -EBADMSG, "the first node repeats a module before there is one");
  reader->last_module = module;
  return module;
}

static void unpack_nodes(struct unpack *unpack, const Fleetprof__Batch *in, struct batch *batch) {
  struct node_reader reader = {.depths = column_of(in->node_depths, "node_depths"),
                               .modules = column_of(in->node_modules, "node_modules"),
                               .addresses = column_of(in->node_addresses, "node_addresses"),
                               .last_module = BATCH_NONE};
  unpack_number(unpack, in->node_count, "number of nodes", LIMIT(LIMIT_BATCH_NODES));
  column_check(unpack, &reader.depths, in->node_count);
  column_check(unpack, &reader.modules, in->node_count);
  column_check(unpack, &reader.addresses, in->node_count);
  struct batch_node *nodes = unpack_array(unpack, in->node_count, sizeof *nodes);
  reader.last_address = unpack_array(unpack, batch->module_count, sizeof *reader.last_address);
  for (uint32_t i = 0; unpack->error == 0 && i < in->node_count; i++) {
    nodes[i].parent = read_parent(unpack, &reader, i);
    nodes[i].module = read_module(unpack, &reader, batch->module_count);
    int64_t distance = zigzag_decode(column_next(unpack, &reader.addresses));
    if (unpack->error != 0) return;
    reader.last_address[nodes[i].module] += (uint64_t)distance;
    nodes[i].address = reader.last_address[nodes[i].module];
  }
  column_end(unpack, &reader.depths);
  column_end(unpack, &reader.modules);
  column_end(unpack, &reader.addresses);
  batch->nodes = nodes;
  batch->node_count = in->node_count;
}

/* The state to which sample cells are relative. */
struct sample_reader {
  struct column nodes, threads, types, counts, weights;
  uint64_t last_node;
  uint64_t weight_a_record; /* of most samples; in version 1 of the last one */
  const uint64_t *steps;    /* the table of weights' cells; NULL in version 1 */
  uint32_t step_count;
  uint64_t count_sum, weight_sum;
};

/* For version 1, in which weights are stored directly. */
static void expect_no_steps(struct unpack *unpack, const Fleetprof__Batch *in) {
  if (in->weight_steps.len > 0 || in->weight_a_record != 0)
    unpack_refuse(unpack, -EBADMSG, "weight_steps and weight_a_record lack their sample_steps");
}

/* Reads the table of steps: at most as many as samples. */
static void read_steps(struct unpack *unpack, const Fleetprof__Batch *in,
                       struct sample_reader *reader) {
  struct column column = column_of(in->weight_steps, "weight_steps");
  size_t max = column.cells.len < in->sample_count ? column.cells.len : in->sample_count;
  uint64_t *steps = unpack_array(unpack, max, sizeof *steps);
  if (in->sample_weights.len > 0)
    unpack_refuse(unpack, -EBADMSG, "weights are told as sample_weights and as sample_steps");
  while (unpack->error == 0 && column.cells.len > 0 && reader->step_count < max)
    steps[reader->step_count++] = (uint64_t)zigzag_decode(column_next(unpack, &column));
  column_end(unpack, &column);
  reader->steps = steps;
  reader->weight_a_record = in->weight_a_record;
  reader->weights = column_of(in->sample_steps, "sample_steps");
}

/* The difference between the next weight and the weight expected from its count. */
static uint64_t read_distance(struct unpack *unpack, struct sample_reader *reader) {
  if (reader->steps == NULL) return (uint64_t)zigzag_decode(column_next(unpack, &reader->weights));
  uint32_t step = column_index(unpack, &reader->weights, reader->step_count);
  return unpack->error == 0 ? reader->steps[step] : 0;
}

static void read_sample(struct unpack *unpack, struct sample_reader *reader,
                        const struct batch *batch, struct batch_sample *sample) {
  uint64_t step = column_next(unpack, &reader->nodes);
  if (reader->last_node >= batch->node_count || step >= batch->node_count - reader->last_node)
    unpack_refuse(unpack, -EBADMSG, "a sample's node is not in the table of %u", batch->node_count);
  reader->last_node += step;
  sample->node = (uint32_t)reader->last_node;
  sample->thread = column_index(unpack, &reader->threads, batch->thread_count);
  sample->type = column_index(unpack, &reader->types, SAMPLE_TYPE_COUNT);
  sample->count = column_next(unpack, &reader->counts);
  sample->weight = sample->count * reader->weight_a_record + read_distance(unpack, reader);
  if (sample->count > COUNT_MAX - reader->count_sum)
    unpack_refuse(unpack, -EBADMSG, "the sum of the sample counts overflows");
  else if (sample->weight > COUNT_MAX - reader->weight_sum)
    unpack_refuse(unpack, -EBADMSG, "the sum of the sample weights overflows");
  if (unpack->error != 0) return;
  reader->count_sum += sample->count;
  reader->weight_sum += sample->weight;
  if (reader->steps == NULL && sample->count > 0)
    reader->weight_a_record = sample->weight / sample->count;
}

static void unpack_samples(struct unpack *unpack, const Fleetprof__Batch *in, struct batch *batch) {
  struct sample_reader reader = {.nodes = column_of(in->sample_nodes, "sample_nodes"),
                                 .threads = column_of(in->sample_threads, "sample_threads"),
                                 .types = column_of(in->sample_types, "sample_types"),
                                 .counts = column_of(in->sample_counts, "sample_counts"),
                                 .weights = column_of(in->sample_weights, "sample_weights")};
  struct column *columns[] = {&reader.nodes, &reader.threads, &reader.types, &reader.counts,
                              &reader.weights};
  const size_t column_count = sizeof columns / sizeof *columns;
  unpack_number(unpack, in->sample_count, "number of samples", LIMIT(LIMIT_BATCH_SAMPLES));
  if (in->sample_steps.len > 0)
    read_steps(unpack, in, &reader);
  else
    expect_no_steps(unpack, in);
  for (size_t i = 0; i < column_count; i++) column_check(unpack, columns[i], in->sample_count);
  struct batch_sample *samples = unpack_array(unpack, in->sample_count, sizeof *samples);
  for (uint32_t i = 0; unpack->error == 0 && i < in->sample_count; i++)
    read_sample(unpack, &reader, batch, &samples[i]);
  for (size_t i = 0; i < column_count; i++) column_end(unpack, columns[i]);
  batch->samples = samples;
  batch->sample_count = in->sample_count;
}

int batch_decode(struct span bytes, struct arena *arena, struct batch *ret_batch, char *why,
                 unsigned long why_len) {
  struct unpack unpack;
  struct batch batch = {0};
  unpack_init(&unpack, arena, why, why_len);
  unpack_number(&unpack, bytes.len, "batch length", LIMIT(LIMIT_BATCH_RAW_BYTES));
  if (unpack.error == 0) check_outline(&unpack, bytes);
  const Fleetprof__Batch *in = unpack_message(&unpack, &fleetprof__batch__descriptor, bytes);
  if (in == NULL) return unpack.error;
  if (!in->end) unpack_refuse(&unpack, -EBADMSG, "the batch is cut short");
  unpack_boot_id(&unpack, in->boot_id, batch.boot_id);
  unpack_times(&unpack, in, &batch);
  unpack_counters(&unpack, in->counters, &batch.counters);
  unpack_effort(&unpack, in->effort, &batch.effort);
  batch.cpus = (uint32_t)unpack_number(&unpack, in->cpus, "number of CPUs", LIMIT(LIMIT_CPUS));
  unpack_modules(&unpack, in, &batch);
  unpack_targets(&unpack, in, &batch);
  unpack_threads(&unpack, in, &batch);
  unpack_nodes(&unpack, in, &batch);
  unpack_samples(&unpack, in, &batch);
  if (unpack.error == 0) *ret_batch = batch;
  return unpack.error;
}
