/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which modules of two profiles are shown as the same. */
#ifndef REPORT_MODULE_LABELS_H
#define REPORT_MODULE_LABELS_H

struct profile;

/* Sets `twin`, `shown` and `build` of the modules of A and of B, which A is compared with (NULL:
   none).

   A file that was sampled at several paths is one module: its data at one path is valid for all
   (namer.h).

   Functions share a row if their names and their modules' file names are equal, whatever the build.
   The program itself may have another file name in B (app.old, app.new): its functions share rows
   by their names too, unless either file name is also a module of the other side.

   A function without a name is shown by its address, which differs between builds.  If there are
   several builds of a module, its build is shown with it.

   Returns 0 or -ENOMEM. */
int module_labels_set(struct profile *a, struct profile *b);

#endif
