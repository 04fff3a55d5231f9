/* SPDX-License-Identifier: Apache-2.0 */
/* A hand-written description becomes outdated. This one is generated from the router's own rows, so
   no route or parameter can be served without a description. It describes requests; the manual
   describes answers. */
#include "openapi.h"

#include "common/json.h"
#include "router.h"

#include <stdio.h>

static const struct {
  const char *name, *type, *text;
  const char *words; /* the allowed values, separated by blanks; NULL: any value of its type */
} known_parameters[] = {
    {"match", "string", "selector: {name=\"v\",name!=\"v\",name=~\"re\",name!~\"re\"}", NULL},
    {"from", "string", "RFC 3339, Unix seconds, now, or -1h (the default)", NULL},
    {"to", "string", "like from; now by default", NULL},
    {"type", "string", "of samples", "cpu"},
    {"a", "string", "selector of the first side; match by default", NULL},
    {"b", "string", "selector of the second side; match by default", NULL},
    {"a_from", "string", "as from, of a; from by default, or what was before b", NULL},
    {"a_to", "string", "as to, of a; to by default, or b_from", NULL},
    {"b_from", "string", "as from, of b; from by default", NULL},
    {"b_to", "string", "as to, of b; to by default", NULL},
    {"measure", "string", "of the verdicts: CPU time per board-hour, or shares (the default)",
     "share cpu"},
    {"of", "string", "functions with all that they call (total, the default) or alone (self)",
     "total self"},
    {"scope", "string",
     "verdicts about these boards, or boards like these; these by default where a selector names "
     "boards or a side has fewer than 5",
     "these fleet"},
    {"unit", "string",
     "what CPU time is divided by (request, frame), with a_units and b_units; measure is then cpu "
     "by default; board-hour without it",
     NULL},
    {"a_units", "number", "how many of unit a has in all, above 0", NULL},
    {"b_units", "number", "how many of unit b has in all, above 0", NULL},
    {"limit", "integer", "rows in the answer, 100000 at most", NULL},
    {"format", "string", "top by default, which is json, too",
     "top json tree columns folded pprof speedscope callgrind perf-script"},
    {"order", "string", "of top's functions, the largest first: self by default", "self total"},
    {"by", "string", "function, module, or a label: thread, service, board, build_id, ...", NULL},
    {"step", "integer", "seconds; 60 by default, or what keeps it to 11000 steps", NULL},
    {"function", "string", "its name, as the function table has it", NULL},
    {"module", "string", "file name of the function's module; any by default", NULL},
    {"offset", "integer", "where in the file the body belongs; 0 by default", NULL},
    {"sha256", "string", "of the whole file, 64 hexadecimal digits; checked when it is given",
     NULL},
    {"total", "integer", "bytes of the whole file; offset + Content-Length by default", NULL},
};

/* Required parameters. tests/e2e/openapi_valid.py checks them. */
static const struct {
  const char *path, *name;
} required_parameters[] = {
    {"/api/v1/callers", "function"},
    {"/api/v1/callees", "function"},
    {"/api/v1/function", "function"},
    {"/api/v1/load", "by"},
};

static bool is_required(const struct route *route, const char *name) {
  for (size_t i = 0; i < sizeof required_parameters / sizeof *required_parameters; i++)
    if (strcmp(required_parameters[i].path, route->path) == 0 &&
        strcmp(required_parameters[i].name, name) == 0)
      return true;
  return false;
}

static void write_words(struct json *json, const char *words) {
  char word[32];
  json_key(json, "enum");
  json_open(json, '[');
  while (*words) {
    size_t len = strcspn(words, " ");
    snprintf(word, sizeof word, "%.*s", (int)len, words);
    json_string(json, word);
    words += len + strspn(words + len, " ");
  }
  json_close(json, ']');
}

static void write_parameter(struct json *json, const char *name, const char *in, bool is_needed) {
  const char *type = "string", *words = NULL;
  json_open(json, '{');
  json_key_string(json, "name", name);
  json_key_string(json, "in", in);
  json_key(json, "required");
  json_bool(json, is_needed);
  for (size_t i = 0; i < sizeof known_parameters / sizeof *known_parameters; i++) {
    if (strcmp(known_parameters[i].name, name) != 0) continue;
    json_key_string(json, "description", known_parameters[i].text);
    type = known_parameters[i].type;
    words = known_parameters[i].words;
  }
  json_key(json, "schema");
  json_open(json, '{');
  json_key_string(json, "type", type);
  if (words != NULL) write_words(json, words);
  json_close(json, '}');
  json_close(json, '}');
}

static void write_parameters(struct json *json, const struct route *route) {
  char name[32];
  json_key(json, "parameters");
  json_open(json, '[');
  const char *brace = strchr(route->path, '{');
  if (brace) {
    brace += brace[1] == '+' ? 2 : 1;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(brace, "}"), brace);
    write_parameter(json, name, "path", true);
  }
  for (const char *at = route->parameters; *at;) {
    size_t len = strcspn(at, " ");
    snprintf(name, sizeof name, "%.*s", (int)len, at);
    write_parameter(json, name, "query", is_required(route, name));
    at += len + strspn(at + len, " ");
  }
  json_close(json, ']');
}

static void write_response(struct json *json, const char *status, const char *text) {
  json_key(json, status);
  json_open(json, '{');
  json_key_string(json, "description", text);
  json_close(json, '}');
}

static void write_operation(struct json *json, const struct route *route) {
  static const char *const methods[][2] = {{"GET", "get"}, {"HEAD", "head"}, {"PUT", "put"}};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
    if (strcmp(methods[i][0], route->method) == 0) json_key(json, methods[i][1]);
  json_open(json, '{');
  json_key_string(json, "summary", route->summary);
  write_parameters(json, route);
  json_key(json, "security");
  json_open(json, '[');
  if (route->role != ROLE_NONE) {
    json_open(json, '{');
    json_key(json, "token");
    json_open(json, '[');
    json_close(json, ']');
    json_close(json, '}');
  }
  json_close(json, ']');
  json_key(json, "responses");
  json_open(json, '{');
  write_response(json, strcmp(route->method, "PUT") == 0 ? "201" : "200", "the answer");
  write_response(json, "default", "application/problem+json (RFC 9457): what is wrong");
  json_close(json, '}');
  json_close(json, '}');
}

static bool is_repeated(const struct route *table, size_t at) {
  for (size_t i = 0; i < at; i++)
    if (strcmp(table[i].path, table[at].path) == 0) return true;
  return false;
}

/* Writes PATH, with the table's {+rest}, a URI template, as {rest}. */
static void write_path(struct json *json, const char *path) {
  char text[128];
  const char *plus = strstr(path, "{+");
  int before = plus ? (int)(plus - path) + 1 : (int)strlen(path);
  snprintf(text, sizeof text, "%.*s%s", before, path, plus ? plus + 2 : "");
  json_key(json, text);
}

static void write_paths(struct json *json, const struct route *table, size_t count) {
  json_key(json, "paths");
  json_open(json, '{');
  for (size_t i = 0; i < count; i++) {
    if (is_repeated(table, i)) continue;
    write_path(json, table[i].path);
    json_open(json, '{');
    for (size_t j = i; j < count; j++)
      if (strcmp(table[j].path, table[i].path) == 0) write_operation(json, &table[j]);
    json_close(json, '}');
  }
  json_close(json, '}');
}

void openapi_write(struct json *json, const struct route *table, size_t count) {
  json_key_string(json, "openapi", "3.1.0");
  json_key(json, "info");
  json_open(json, '{');
  json_key_string(json, "title", "fleetprof collector");
  json_key_string(json, "version", FLEETPROF_VERSION);
  json_key_string(
      json, "description",
      "A whole number above 2^53 in an object of an answer is followed by its digits as "
      "a string, under its name with `_exact` behind it.");
  json_close(json, '}');
  json_key(json, "components");
  json_open(json, '{');
  json_key(json, "securitySchemes");
  json_open(json, '{');
  json_key(json, "token");
  json_open(json, '{');
  json_key_string(json, "type", "http");
  json_key_string(json, "scheme", "bearer");
  json_key_string(json, "description", "not needed for reading on the collector's own machine");
  json_close(json, '}');
  json_close(json, '}');
  json_close(json, '}');
  write_paths(json, table, count);
}
