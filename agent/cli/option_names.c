/* SPDX-License-Identifier: Apache-2.0 */
/* /etc/fleetprof/fleetprof.conf is one file for all subcommands: `state =` means each of them,
   `hz =` only run.  So each passes over what is another's, and still refuses what is nobody's.  A
   new option has a line here; without it the other subcommands would refuse a file that holds it.
   The daemon and the collector have files of their own. */
#include "commands.h"

#include <stddef.h>

const char *const commands_option_names[] = {
    "service",     "label",
    "hz",          "sampler",
    "unwind",      "collect",
    "state",       "collector",
    "output",      "flush-timeout",
    "verbose", /* run */
    "bin-bytes",   "counter-bytes",
    "last",        "token", /* enroll */
    "format",               /* status */
    "limit",       "diff",
    "depth",       "translator",
    "module",      "just-pcs",
    "just-counts", "counts-to",
    "debug", /* report and name */
    "functions",   "addresses",
    "base",        "sorted",
    "index",       "make-index", /* translate */
    "http",        "token-file",
    "ca", /* what asks the collector */
    "require-all", "dry-run",
    "build-id", /* upload */
    "from",        "to",
    "type",        "by",
    "step",        "callers",
    "callees",     "function", /* query */
    "a-from",      "a-to",
    "b-from",      "b-to",
    "fail-over",   "both",
    "measure",     "of",
    "scope",       "unit",
    "a-units",     "b-units", /* diff */
    NULL,
};
