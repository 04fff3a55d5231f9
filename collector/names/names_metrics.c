/* SPDX-License-Identifier: Apache-2.0 */
/* Files are counted at each request: there are thousands at most. */
#include "names_metrics.h"

#include "common/buf.h"
#include "debug_db.h"
#include "debug_store_parts.h"
#include "dwarf_list.h"
#include "lookup_counts.h"
#include "reader_counts.h"
#include "symbol/index_texts.h"

#include <inttypes.h>
#include <string.h>

struct file_counts {
  uint64_t of_quality[DEBUG_DWARF + 1 - DEBUG_SUPPLEMENT];
  uint64_t waiting; /* for their debug information to be read */
};

static void count_files(struct debug_store *store, struct file_counts *ret) {
  sqlite3_stmt *row;
  memset(ret, 0, sizeof *ret);
  sqlite3 *db = debug_store_lock(store);
  if (debug_db_query(db, &row, "SELECT quality, count(*) FROM file GROUP BY quality", "") == 0) {
    while (sqlite3_step(row) == SQLITE_ROW) {
      int quality = sqlite3_column_int(row, 0);
      if (quality < DEBUG_SUPPLEMENT || quality > DEBUG_DWARF) continue;
      ret->of_quality[quality - DEBUG_SUPPLEMENT] = (uint64_t)sqlite3_column_int64(row, 1);
    }
    debug_db_end(row);
  }
  ret->waiting = (uint64_t)debug_db_number(db, 0, "SELECT count(*) FROM dwarf WHERE state = ?1",
                                           "i", (int64_t)DWARF_WAITS);
  debug_store_unlock(store);
}

static void print_one(struct buf *ret, const char *name, const char *type, const char *help,
                      uint64_t value) {
  buf_printf(ret,
             "# HELP fleetprof_names_%s %s\n"
             "# TYPE fleetprof_names_%s %s\n"
             "fleetprof_names_%s %" PRIu64 "\n",
             name, help, name, type, name, value);
}

void names_metrics_print(struct debug_store *store, struct buf *ret) {
  struct file_counts files;
  struct index_texts_counts texts;
  count_files(store, &files);
  index_texts_count(&texts);
  buf_append_string(ret, "# HELP fleetprof_names_files Debug files that were sent, by how good "
                         "they are: none was not read yet, bad was refused.\n"
                         "# TYPE fleetprof_names_files gauge\n");
  for (int quality = DEBUG_SUPPLEMENT; quality <= DEBUG_DWARF; quality++)
    buf_printf(ret, "fleetprof_names_files{quality=\"%s\"} %" PRIu64 "\n",
               debug_quality_name((enum debug_quality)quality),
               files.of_quality[quality - DEBUG_SUPPLEMENT]);
  print_one(ret, "waiting_files", "gauge", "Files whose debug information waits to be read.",
            files.waiting);
  print_one(ret, "set_aside_total", "counter",
            "Damaged catalogues that were set aside with their files.",
            debug_store_set_aside(store));
  reader_counts_print(ret);
  lookup_counts_print(ret);
  print_one(ret, "unpacked_bytes", "gauge", "Names in memory.", texts.bytes);
  print_one(ret, "unpacked_refused_total", "counter",
            "Times that there was no memory left for a block of names.", texts.refusals);
}
