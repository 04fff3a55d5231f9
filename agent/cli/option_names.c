/* SPDX-License-Identifier: Apache-2.0 */
/* /etc/fleetprof/fleetprof.conf is shared by all subcommands: `state =` applies to each of them,
   `hz =` only to run.  Each subcommand ignores the options of others, and rejects unknown options.
   A new option needs a line here; without it the other subcommands would reject a file that
   contains it.  The daemon and the collector have their own files. */
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
    "ca", /* commands that query the collector */
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
