/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the line table of a unit. libdw sorts it by address. */
#include "dwarf_unit.h"

#include <dwarf.h>

static int read_line(struct dwarf_context *context, Dwarf_CU *cu, Dwarf_Line *from) {
  Dwarf_Addr address;
  int line;
  bool is_end;
  if (dwarf_lineaddr(from, &address) != 0 || dwarf_lineno(from, &line) != 0) return 0;
  if (dwarf_lineendsequence(from, &is_end) != 0) return 0;
  if (!is_end && dwarf_context_find_code(context, address) == NULL) return 0;
  struct unit_line told = {
      .address = address, .line = line > 0 ? (uint32_t)line : 0, .is_end = is_end};
  int error =
      is_end ? 0 : dwarf_context_add_file(context, cu, dwarf_linesrc(from, NULL, NULL), &told.file);
  return error != 0 ? error : unit_rows_add_line(&context->rows, &told);
}

int dwarf_lines_read(struct dwarf_context *context, Dwarf_Die *unit) {
  Dwarf_Lines *lines;
  size_t count;
  if (!dwarf_hasattr(unit, DW_AT_stmt_list)) return 0;
  if (dwarf_getsrclines(unit, &lines, &count) != 0) {
    context->malformed++;
    return 0;
  }
  int error = 0;
  for (size_t i = 0; error == 0 && i < count; i++)
    error = read_line(context, unit->cu, dwarf_onesrcline(lines, i));
  return error;
}
