/* SPDX-License-Identifier: Apache-2.0 */
/* The list of day files with the generation of each. landing.db keeps it by file name
   (sqlite/marks.h), so that missing files, older copies and other collectors' files are
   detected. */
#ifndef STORE_DAY_MARKS_H
#define STORE_DAY_MARKS_H

#include "sqlite/marks.h"
#include "tier.h"

#include <stdbool.h>

struct day_set;
struct landing;

/* A mark in landing.db: every day file that existed when the first version with marks started has a
   mark. */
#define DAY_MARKS_COMPLETE "days"

enum day_state { DAY_WHOLE, DAY_GONE, DAY_OLDER, DAY_FOREIGN, DAY_DAMAGED };

/* The stored facts about a file, before the file is read. */
struct day_mark {
  uint64_t store;   /* of the folder */
  uint64_t value;   /* its mark */
  bool is_marked;   /* the file has a mark */
  bool is_complete; /* every file of the folder has a mark */
};

/* Returns the kind of the day file that a mark's NAME denotes, and sets its day; DAY_KINDS if it is
   no day file. */
enum day_kind day_marks_kind(const char *name, uint32_t *ret_day);

/* Compares the file PATH of KIND with its MARK. Sets RET to its generation (settled_id of windows,
   transactions of sums). Changes nothing. Returns an enum day_state, or -errno. */
int day_marks_judge(const char *path, enum day_kind kind, const struct day_mark *mark,
                    uint64_t *ret);

/* Describes the effect on answers of a file in STATE, which is not DAY_WHOLE. */
const char *day_marks_why(enum day_state state);

/* Checks DAY's file of KIND before use. Records a fault if data was lost, and sets aside a file of
   another collector. Returns 0 or -errno. No other code may have the file open. */
int day_marks_admit(struct landing *landing, const char *dir, enum day_kind kind, uint32_t day);

/* Does so at the start for every file that exists or should exist. Returns 0 or the first
   -errno. */
int day_marks_admit_all(struct landing *landing, const char *dir);

/* Finds files that were deleted by another program, and records faults. Any thread. */
void day_marks_find_missing(struct landing *landing, const char *dir);

/* Record the generation of the open files of SET, or GENERATION of DAY's file of sums. Return 0 or
   -errno. */
int day_marks_note_set(struct landing *landing, const struct day_set *set);
int day_marks_note_sums(struct landing *landing, const char *dir, enum day_kind kind, uint32_t day,
                        uint64_t generation);

/* The first removes the mark of DAY's file of KIND, durably, before the file is deleted, and
   returns 0 or -errno. The second records that PATH was set aside as damaged. */
int day_marks_forget(struct landing *landing, const char *dir, enum day_kind kind, uint32_t day);
void day_marks_set_aside(struct landing *landing, const char *path, uint32_t day);

#endif
