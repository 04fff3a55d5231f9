/* SPDX-License-Identifier: Apache-2.0 */
/* The complete route table: any other path is 404, any other method 405 and any other parameter
   400. The description for clients (openapi.json) is generated from it. A new route is a new row.

   The page and its files need no token, since they contain no data: the page itself needs a token
   for its requests, like any client. */
#include "routes.h"

#include "api.h"

const struct route routes[] = {
    {"GET", "/api/v1/boards", ROLE_READ, LANE_MONITOR, "match from to type limit", api_boards,
     "the boards, what sampling costs each and by which budget its rate is held, how stacks ended "
     "since its daemon began (`stacks`, as in profile), and what they "
     "lost since each one's first sample; `revoked` is when that was, or null; with from or to "
     "only those seen in that time. match takes board, arch, kernel and boards' own labels"},
    {"GET", "/api/v1/labels", ROLE_READ, LANE_QUERY, "match from to type limit", api_labels,
     "the names of labels"},
    {"GET", "/api/v1/labels/{name}", ROLE_READ, LANE_QUERY, "match from to type limit",
     api_label_values, "the values of one label"},
    {"GET", "/api/v1/profile", ROLE_READ, LANE_QUERY, "match from to type limit format by order",
     api_profile,
     "where the time went: format=top (functions, by order), tree or folded (call stacks), columns "
     "(the tree for programs that draw it: functions once, nodes as columns of numbers), or a file "
     "for other tools: pprof (gzipped profile.proto), speedscope (JSON), callgrind, perf-script "
     "(text); with by=thread, service, board or another label the outermost frames of tree and "
     "columns are its values, and `stacks` is not told; "
     "`basis` says what intervals are about (`scope`: these, what was selected, or fleet, boards "
     "like these) and come from; a row's upper ends include what [unsampled] may hide; "
     "`too_few_samples` and `too_few_boards` say what makes an interval too wide; `rest` is what a "
     "limit left out; "
     "`kernel_hint` and `unsampled_hint` say what helps where a tenth or more is in one of these; "
     "`rest_hint` where the lightest nodes of a board are one, [rest]; "
     "`marks` names the services whose shares are to be doubted, and why; `stacks` says which "
     "share of the sampled stacks is complete, truncated, no_table, bad, other_stack or not_told, "
     "and `ends_in` in which modules the short ones end. A short stack has its end as outermost "
     "frame, [truncated], [no table], [bad stack] or [other stack], which is no row of format=top"},
    {"GET", "/api/v1/callers", ROLE_READ, LANE_QUERY, "match from to type limit function module",
     api_callers,
     "who calls a function: `kind` stack (exact) or lr (measured from link registers, the rest "
     "extrapolated by the measured mix, or listed as [unresolved]); each stack counts with the "
     "last edge into the function, so that the weights and `rest`, what a limit left out, add up "
     "to its total"},
    {"GET", "/api/v1/callees", ROLE_READ, LANE_QUERY, "match from to type limit function module",
     api_callees,
     "whom a function calls: as callers, each stack with the last edge out of the function; "
     "[self] is what it spends in no call of its own"},
    {"GET", "/api/v1/function", ROLE_READ, LANE_QUERY, "match from to type limit function module",
     api_function,
     "one function from inside. `function` is its row of the function table; its own time (self) "
     "by "
     "offset in the machine code of each build, from the start of the function `code`, which is "
     "another one where it was inlined; self and total by line of its own source, that of the call "
     "where it called, by build, board and thread. A total counts a stack once a row. Where the "
     "sources of a build were uploaded a line has its `text`, and `source` lists that build's "
     "lines from the first sampled one to the last. `rest` is what a limit left out of each list"},
    {"GET", "/api/v1/load", ROLE_READ, LANE_QUERY, "match from to type limit by", api_load,
     "the same samples by function, module (both of where the time was spent), thread, service, "
     "board or any other label: rows, heaviest first, and `rest`, what a limit left out, add up to "
     "`total`"},
    {"GET", "/api/v1/series", ROLE_READ, LANE_QUERY, "match from to type limit by step", api_series,
     "the same samples over time, by what load takes or, without by, in one series. A point is the "
     "beginning of its step (Unix seconds, a multiple of step) and the weight in it; steps without "
     "any have none. The points of all series and of `rest`, what a limit left out, add up to "
     "`total`"},
    {"GET", "/api/v1/diff", ROLE_READ, LANE_QUERY,
     "a b a_from a_to b_from b_to match from to type limit measure of scope unit a_units b_units",
     api_diff,
     "what changed from a to b. `whole`: CPU time per board-hour, its ratio with the 95 % interval "
     "and a verdict. Each function: self shares, their difference with its interval, p (adjusted "
     "by Benjamini and Hochberg) and verdict (changed, new, gone: p at most 0.05; same; unclear); "
     "the same of total shares in `total`, and of CPU time per board-hour in `cpu`. `detectable` "
     "is the least change that is called changed 4 times of 5. Ordered by `measure` and `of`, the "
     "largest difference first. What a side does not say match, from and to say for both; of one "
     "selector, a is what was before b where only b_from is given. `scope` says what verdicts are "
     "about and `basis` the sampling units; a gate looks at increases beyond its threshold"},
    {"GET", "/api/v1/loss", ROLE_READ, LANE_MONITOR, "match from to type limit", api_loss,
     "samples produced, stored and dropped since each board's first, by reason: the books close "
     "over all time, so from and to are checked and choose nothing; limit cuts the boards listed "
     "and not the sums. match as for boards"},
    {"GET", "/api/v1/debug", ROLE_READ, LANE_QUERY, "match from to type limit", api_debug_list,
     "modules seen, and how good the debug file of each is; always of all boards and times: match, "
     "from, to and type are checked and choose nothing"},
    {"GET", "/api/v1/debug/files", ROLE_SYMBOLS, LANE_QUERY, "", api_debug_files,
     "every debug file that an operator has sent, with the SHA-256 of its bytes, and whether a "
     "board has used its module (`seen`): who has thousands to send asks once"},
    {"HEAD", "/api/v1/debug/{build_id}", ROLE_SYMBOLS, LANE_UPLOAD, "total sha256", api_debug_head,
     "bytes of that module's debug file that are there (Upload-Offset); with sha256 of that very "
     "file"},
    {"PUT", "/api/v1/debug/{build_id}", ROLE_SYMBOLS, LANE_UPLOAD, "offset total sha256",
     api_debug_put,
     "upload a debug file, or the part of it that starts at offset; 409 tells where it goes on "
     "(Upload-Offset)"},
    {"GET", "/api/v1/debug/sources", ROLE_SYMBOLS, LANE_QUERY, "", api_sources_list,
     "the modules whose sources are here, and how many files of each"},
    {"HEAD", "/api/v1/debug/{build_id}/sources", ROLE_SYMBOLS, LANE_UPLOAD, "total sha256",
     api_sources_head, "bytes of that source bundle that are there (Upload-Offset)"},
    {"PUT", "/api/v1/debug/{build_id}/sources", ROLE_SYMBOLS, LANE_UPLOAD, "offset total sha256",
     api_sources_put,
     "upload the sources of a module (a bundle that `fleetprof upload --sources` packs), or the "
     "part of it that starts at offset; sha256 is that of the whole"},
    {"GET", "/buildid/{+file}", ROLE_READ, LANE_QUERY, "", api_buildid,
     "debug files for gdb and others, as debuginfod serves them: ID/debuginfo, ID/executable, "
     "ID/section/NAME, only what an operator or two boards have sent, and ID/source/PATH of "
     "sources "
     "that an operator has sent"},
    {"GET", "/metrics", ROLE_READ, LANE_MONITOR, "", api_metrics,
     "the collector's own counters, in Prometheus text form, or in that of OpenMetrics where "
     "Accept "
     "names it"},
    {"GET", "/healthz", ROLE_NONE, LANE_LOOP, "", api_healthz, "200 while the collector runs"},
    {"GET", "/readyz", ROLE_NONE, LANE_LOOP, "", api_readyz,
     "200 while the collector can answer queries, else 503 with reasons"},
    {"GET", "/api/v1/openapi.json", ROLE_READ, LANE_LOOP, "", api_openapi, "this description"},
    {"GET", "/", ROLE_NONE, LANE_LOOP,
     "view match from to function module search merge invert sandwich zoom sort since a b a_from "
     "a_to b_from b_to measure of scope unit a_units b_units",
     api_asset, "the page; its parameters are what it shows"},
    {"GET", "/app.js", ROLE_NONE, LANE_LOOP, "", api_asset, "the page's script"},
    {"GET", "/early.js", ROLE_NONE, LANE_LOOP, "", api_asset, "what the page asks first"},
    {"GET", "/style.css", ROLE_NONE, LANE_LOOP, "", api_asset, "the page's style"},
    {"GET", "/icon.svg", ROLE_NONE, LANE_LOOP, "", api_asset, "the page's icon"},
};

const size_t routes_count = sizeof routes / sizeof *routes;
_Static_assert(sizeof routes / sizeof *routes <= ROUTES_MAX, "counters have a row for each route");
