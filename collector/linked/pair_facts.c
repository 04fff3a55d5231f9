/* SPDX-License-Identifier: Apache-2.0 */
/* The link is inside if it lies in the bounds of the PC's function, or in another part of that
   function. A cold part starts where no call leads to. So a call that leads elsewhere does not
   refute it. */
#include "pair_facts.h"

#include "pair_code.h"

static bool is_inside(const struct pair_ends *ends, const struct pair_files *files,
                      const struct pair_function *function) {
  struct pair_function other;
  if (!ends->has_link || !ends->is_same_module) return false;
  if (ends->link >= function->start && ends->link - function->start < function->size) return true;
  return files->find_function(files->context, PAIR_LINK, &other) &&
         pair_code_is_one_function(function->name, other.name);
}

struct pair_facts pair_facts_find(const struct pair_ends *ends, const struct pair_files *files) {
  struct pair_function function = {.name = ""};
  struct pair_facts facts = {.cpu = pair_code_cpu(ends->machine, ends->arch),
                             .has_link = ends->has_link};
  facts.has_bounds = files->find_function(files->context, PAIR_PC, &function);
  if (facts.has_bounds) facts.is_inside = is_inside(ends, files, &function);
  facts.place = pair_code_place(files->place(files->context));
  facts.call = pair_code_call(files->call(files->context, function.start), ends->is_same_module);
  if (facts.call == PAIR_CALL_ELSEWHERE && pair_code_is_cold(function.name))
    facts.call = PAIR_CALL_ANYWHERE;
  return facts;
}
