/* SPDX-License-Identifier: Apache-2.0 */
/* Two parts of one function, of which compilers put the cold one elsewhere, are one here: what
   points from the one into the other points into the function. */
#include "pair_judge.h"

#include "names/symbolizer.h"

static const char cold[] = ".cold";

/* Up to what a compiler has appended for the part that it moved away. */
static size_t base_len(const char *name) {
  const char *end = strstr(name, cold);
  return end != NULL ? (size_t)(end - name) : strlen(name);
}

static bool is_one_function(const char *a, const char *b) {
  size_t len = base_len(a);
  return len > 0 && len == base_len(b) && memcmp(a, b, len) == 0;
}

static enum pair_cpu cpu_of(const char *arch) {
  if (arch == NULL) return PAIR_CPU_JUMPS;
  if (strcmp(arch, "x86_64") == 0) return PAIR_CPU_STACK;
  bool is_arm = strncmp(arch, "arm", 3) == 0 && strcmp(arch, "arm64") != 0;
  return is_arm ? PAIR_CPU_POPS : PAIR_CPU_JUMPS;
}

static bool find_symbol(const struct pair_view *view, const struct store_node *node,
                        struct symbol *ret) {
  const struct store_module *module = &view->forest->modules[node->module];
  return view->symbolizer != NULL && module->kind == MODULE_ELF &&
         symbolizer_find(view->symbolizer, view->board, module->id, node->address, ret) == 0;
}

/* Where the link points, seen from the function of the PC. */
static void look_around(const struct pair_view *view, const struct store_node *pc,
                        const struct store_node *link, struct pair_facts *facts) {
  struct symbol function, other;
  facts->has_bounds = find_symbol(view, pc, &function);
  if (!facts->has_bounds) return;
  bool is_same_module = pc->module == link->module;
  facts->is_inside = is_same_module && link->address >= function.start &&
                     link->address - function.start < function.size;
  if (!facts->is_inside && is_same_module && find_symbol(view, link, &other))
    facts->is_inside = is_one_function(function.name, other.name);
}

struct pair_verdict pair_judge(const struct pair_view *view, uint32_t node) {
  const struct store_forest *forest = view->forest;
  const struct store_node *pc = &forest->nodes[node];
  struct pair_facts facts = {.cpu = cpu_of(view->arch)};
  if (pc->parent == BATCH_NONE) return (struct pair_verdict){.rung = PAIR_UNRESOLVED};
  const struct store_node *link = &forest->nodes[pc->parent];
  facts.has_link = forest->modules[link->module].kind == MODULE_ELF;
  if (facts.has_link) look_around(view, pc, link, &facts);
  return (struct pair_verdict){pair_rule_judge(&facts), pair_rule_is_outside(&facts)};
}
