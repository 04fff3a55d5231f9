/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes struct batch as protobuf. Names and modules are plain submessages. Nodes and samples,
   nearly all of the data, are columns of varints (layout in WIRE.md). zstd compresses runs of equal
   small numbers to almost nothing:

     node_depths     levels from the predecessor's child level up to the node; 0: a child
     node_modules    module + 1, or 0 for the module of the predecessor
     node_addresses  zigzag distance to the last address written of the same module
     sample_nodes    distance to the last sample's node; samples are sorted by node
     sample_threads, sample_types, sample_counts    unchanged
     sample_steps    difference of the weight from that of most samples: a cell of weight_steps,
                     which begins with the most frequent difference (weight_steps.c)

   Samples are sorted by counting, nodes in preorder.c. Arithmetic on addresses and weights wraps on
   purpose; the decoder wraps the same way. */
#include "batch_codec.h"
#include "common/buf.h"
#include "limits.h"
#include "pack.h"
#include "preorder.h"
#include "varint.h"
#include "weight_steps.h"

#include <errno.h>

/* Memory of the generated structs and the sort for the largest batch. */
enum { ENCODE_ARENA_BYTES = LIMIT_BATCH_UNPACK_BYTES };

struct columns {
  struct buf depths, modules, addresses;
  struct buf nodes, threads, types, counts, steps, of_samples; /* steps, and their samples */
};

static void columns_fini(struct columns *columns) {
  struct buf *all[] = {&columns->depths, &columns->modules, &columns->addresses,
                       &columns->nodes,  &columns->threads, &columns->types,
                       &columns->counts, &columns->steps,   &columns->of_samples};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) buf_fini(all[i]);
}

static void check_counts(struct pack *pack, const struct batch *batch) {
  if (batch->module_count > LIMIT_BATCH_MODULES || batch->target_count > LIMIT_BATCH_TARGETS ||
      batch->thread_count > LIMIT_BATCH_THREADS || batch->node_count > LIMIT_BATCH_NODES ||
      batch->sample_count > LIMIT_BATCH_SAMPLES)
    pack_fail(pack, -EOVERFLOW);
}

static void pack_modules(struct pack *pack, const struct batch *batch, Fleetprof__Batch *out) {
  uint32_t count = batch->module_count;
  Fleetprof__Module *modules = pack_array(pack, count, sizeof *modules);
  out->modules = pack_array(pack, count, sizeof *out->modules);
  for (uint32_t i = 0; pack->error == 0 && i < count; i++) {
    const struct batch_module *module = &batch->modules[i];
    bool has_id = module->id.len > 0;
    if (module->kind > MODULE_PSEUDO || has_id != (module->kind == MODULE_ELF))
      pack_fail(pack, -EINVAL);
    fleetprof__module__init(&modules[i]);
    modules[i].id = pack_bytes(pack, module->id, LIMIT_MODULE_ID_BYTES);
    modules[i].path = pack_text(pack, module->path, LIMIT_PATH_BYTES);
    modules[i].size = module->size_bytes;
    modules[i].kind = module->kind;
    out->modules[out->n_modules++] = &modules[i];
  }
}

static void pack_targets(struct pack *pack, const struct batch *batch, Fleetprof__Batch *out) {
  uint32_t count = batch->target_count;
  Fleetprof__Target *targets = pack_array(pack, count, sizeof *targets);
  out->targets = pack_array(pack, count, sizeof *out->targets);
  for (uint32_t i = 0; pack->error == 0 && i < count; i++) {
    const struct batch_target *target = &batch->targets[i];
    if (target->module != BATCH_NONE && target->module >= batch->module_count)
      pack_fail(pack, -EINVAL);
    fleetprof__target__init(&targets[i]);
    targets[i].service = pack_text(pack, target->service, LIMIT_NAME_BYTES);
    targets[i].exe = pack_text(pack, target->exe, LIMIT_PATH_BYTES);
    targets[i].module = target->module == BATCH_NONE ? 0 : target->module + 1;
    targets[i].labels = pack_labels(pack, target->labels, target->label_count);
    targets[i].n_labels = target->label_count;
    targets[i].sampler = pack_text(pack, target->sampler, LIMIT_NAME_BYTES);
    targets[i].asked_mhz = target->asked_mhz;
    targets[i].achieved_mhz = target->achieved_mhz;
    targets[i].why = pack_text(pack, target->why, LIMIT_VALUE_BYTES);
    targets[i].marks = target->marks;
    out->targets[out->n_targets++] = &targets[i];
  }
}

static void pack_threads(struct pack *pack, const struct batch *batch, Fleetprof__Batch *out) {
  uint32_t count = batch->thread_count;
  Fleetprof__Thread *threads = pack_array(pack, count, sizeof *threads);
  out->threads = pack_array(pack, count, sizeof *out->threads);
  for (uint32_t i = 0; pack->error == 0 && i < count; i++) {
    if (batch->threads[i].target >= batch->target_count) pack_fail(pack, -EINVAL);
    fleetprof__thread__init(&threads[i]);
    threads[i].target = batch->threads[i].target;
    threads[i].name = pack_text(pack, batch->threads[i].name, LIMIT_NAME_BYTES);
    out->threads[out->n_threads++] = &threads[i];
  }
}

static void write_nodes(struct pack *pack, const struct batch *batch, const struct preorder *order,
                        struct columns *columns) {
  uint64_t *last_address = pack_array(pack, batch->module_count, sizeof *last_address);
  uint32_t last_module = BATCH_NONE;
  unsigned next_depth = 0; /* of a child of the predecessor */
  for (uint32_t i = 0; pack->error == 0 && i < batch->node_count; i++) {
    const struct batch_node *node = &batch->nodes[order->sources[i]];
    if (node->module >= batch->module_count) {
      pack_fail(pack, -EINVAL);
      return;
    }
    varint_encode(&columns->depths, next_depth - order->depths[i]);
    varint_encode(&columns->modules, node->module == last_module ? 0 : node->module + 1);
    uint64_t distance = node->address - last_address[node->module];
    varint_encode(&columns->addresses, zigzag_encode((int64_t)distance));
    next_depth = order->depths[i] + 1U;
    last_module = node->module;
    last_address[node->module] = node->address;
  }
}

static void check_samples(struct pack *pack, const struct batch *batch) {
  uint64_t count = 0, weight = 0;
  for (uint32_t i = 0; i < batch->sample_count; i++) {
    const struct batch_sample *sample = &batch->samples[i];
    if (sample->node >= batch->node_count || sample->thread >= batch->thread_count ||
        sample->type >= SAMPLE_TYPE_COUNT)
      pack_fail(pack, -EINVAL);
    if (sample->count > (uint64_t)INT64_MAX - count ||
        sample->weight > (uint64_t)INT64_MAX - weight) {
      pack_fail(pack, -EOVERFLOW);
      return;
    }
    count += sample->count;
    weight += sample->weight;
  }
}

/* Returns the samples' indices, sorted by the place of their node. */
static const uint32_t *sort_samples(struct pack *pack, const struct batch *batch,
                                    const struct preorder *order) {
  uint32_t *starts = pack_array(pack, (size_t)batch->node_count + 1, sizeof *starts);
  uint32_t *sorted = pack_array(pack, batch->sample_count, sizeof *sorted);
  if (pack->error != 0) return NULL;
  for (uint32_t i = 0; i < batch->sample_count; i++)
    starts[order->places[batch->samples[i].node] + 1]++;
  for (uint32_t i = 0; i < batch->node_count; i++) starts[i + 1] += starts[i];
  for (uint32_t i = 0; i < batch->sample_count; i++)
    sorted[starts[order->places[batch->samples[i].node]]++] = i;
  return sorted;
}

static void write_samples(struct pack *pack, const struct batch *batch,
                          const struct preorder *order, const struct weight_steps *steps,
                          struct columns *columns) {
  if (pack->error == 0) check_samples(pack, batch);
  const uint32_t *sorted = pack->error == 0 ? sort_samples(pack, batch, order) : NULL;
  if (sorted == NULL) return;
  uint32_t last_place = 0;
  for (uint32_t i = 0; i < batch->sample_count; i++) {
    const struct batch_sample *sample = &batch->samples[sorted[i]];
    uint32_t place = order->places[sample->node];
    varint_encode(&columns->nodes, place - last_place);
    varint_encode(&columns->threads, sample->thread);
    varint_encode(&columns->types, sample->type);
    varint_encode(&columns->counts, sample->count);
    varint_encode(&columns->of_samples, weight_steps_cell(steps, sample));
    last_place = place;
  }
  for (uint32_t i = 0; i < steps->count; i++)
    varint_encode(&columns->steps, zigzag_encode((int64_t)steps->by_use[i]->distance));
}

static ProtobufCBinaryData pack_column(struct pack *pack, const struct buf *column) {
  if (column->failed) pack_fail(pack, -ENOMEM);
  return (ProtobufCBinaryData){.len = column->len, .data = column->data};
}

static void pack_columns(struct pack *pack, const struct batch *batch,
                         const struct columns *columns, Fleetprof__Batch *out) {
  out->node_count = batch->node_count;
  out->node_depths = pack_column(pack, &columns->depths);
  out->node_modules = pack_column(pack, &columns->modules);
  out->node_addresses = pack_column(pack, &columns->addresses);
  out->sample_count = batch->sample_count;
  out->sample_nodes = pack_column(pack, &columns->nodes);
  out->sample_threads = pack_column(pack, &columns->threads);
  out->sample_types = pack_column(pack, &columns->types);
  out->sample_counts = pack_column(pack, &columns->counts);
  out->weight_steps = pack_column(pack, &columns->steps);
  out->sample_steps = pack_column(pack, &columns->of_samples);
  out->end = 1;
}

static void pack_batch(struct pack *pack, const struct batch *batch, Fleetprof__Batch *out) {
  out->boot_id =
      pack_bytes(pack, span_of(batch->boot_id, BATCH_BOOT_ID_BYTES), BATCH_BOOT_ID_BYTES);
  out->start_boottime_ns = batch->start_boottime_ns;
  out->end_boottime_ns = batch->end_boottime_ns;
  out->start_walltime_ns = batch->start_walltime_ns;
  out->end_walltime_ns = batch->end_walltime_ns;
  out->counters = pack_counters(pack, &batch->counters);
  out->effort = pack_effort(pack, &batch->effort);
  out->cpus = batch->cpus < LIMIT_CPUS ? batch->cpus : LIMIT_CPUS;
  check_counts(pack, batch);
  pack_modules(pack, batch, out);
  pack_targets(pack, batch, out);
  pack_threads(pack, batch, out);
}

int batch_encode(const struct batch *batch, struct buf *ret) {
  struct pack pack;
  struct columns columns = {0};
  struct preorder order = {0};
  struct weight_steps steps = {0};
  Fleetprof__Batch out = FLEETPROF__BATCH__INIT;
  pack_init(&pack, ENCODE_ARENA_BYTES);
  pack_batch(&pack, batch, &out);
  preorder_make(&pack, batch, &order);
  write_nodes(&pack, batch, &order, &columns);
  weight_steps_find(&pack, batch, &steps);
  write_samples(&pack, batch, &order, &steps, &columns);
  out.weight_a_record = steps.weight_a_record;
  pack_columns(&pack, batch, &columns, &out);
  if (pack.error == 0 && protobuf_c_message_get_packed_size(&out.base) > LIMIT_BATCH_RAW_BYTES)
    pack_fail(&pack, -EOVERFLOW);
  int error = pack_finish(&pack, &out.base, ret);
  columns_fini(&columns);
  pack_fini(&pack);
  return error;
}

uint64_t batch_record_count(const struct batch *batch) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < batch->sample_count; i++) {
    uint64_t count = batch->samples[i].count;
    total = count > UINT64_MAX - total ? UINT64_MAX : total + count;
  }
  return total;
}
