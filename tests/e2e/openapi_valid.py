# SPDX-License-Identifier: Apache-2.0
# openapi_valid.py URL: the collector's description is valid OpenAPI 3.1 (the subset that we use, as
# a JSON schema), and each {name} of a path is a parameter of it. The collector has each described
# operation: it never answers one with 405 or "no such route". It requires exactly the required
# parameters, and accepts exactly the values of an enum.
import json, re, sys, urllib.error, urllib.parse, urllib.request
import jsonschema

url = sys.argv[1]
text = {"type": "string", "minLength": 1}
parameter = {"type": "object", "required": ["name", "in", "required", "schema"], "additionalProperties": False,
             "properties": {"name": text, "in": {"enum": ["path", "query"]}, "required": {"type": "boolean"}, "description": text,
                            "schema": {"type": "object", "required": ["type"], "properties": {"type": {"enum": ["string", "integer", "number", "boolean"]},
                                                                                                     "enum": {"type": "array", "items": text, "minItems": 1, "uniqueItems": True}}}},
             "if": {"properties": {"in": {"const": "path"}}}, "then": {"properties": {"required": {"const": True}}}}
operation = {"type": "object", "required": ["summary", "parameters", "responses", "security"], "additionalProperties": False,
             "properties": {"summary": text, "parameters": {"type": "array", "items": parameter, "uniqueItems": True},
                            "security": {"type": "array", "items": {"type": "object", "additionalProperties": {"type": "array"}}},
                            "responses": {"type": "object", "minProperties": 1, "propertyNames": {"pattern": "^([1-5][0-9][0-9]|default)$"},
                                          "additionalProperties": {"type": "object", "required": ["description"]}}}}
schema = {"type": "object", "required": ["openapi", "info", "paths"], "additionalProperties": False,
          "properties": {"openapi": {"pattern": r"^3\.1\.[0-9]+$"}, "info": {"type": "object", "required": ["title", "version"]},
                         "components": {"type": "object"},
                         "paths": {"type": "object", "propertyNames": {"pattern": "^/"}, "additionalProperties": {
                             "type": "object", "minProperties": 1, "propertyNames": {"enum": ["get", "head", "put"]}, "additionalProperties": operation}}}}
description = json.load(urllib.request.urlopen(url + "/api/v1/openapi.json", timeout=20))
jsonschema.Draft202012Validator(schema).validate(description)
schemes = set(description["components"]["securitySchemes"])


# The parameter that the answer to PATH with GIVEN reports as wrong, or None.
def refused(path, given):
    try:
        urllib.request.urlopen(url + path + "?" + urllib.parse.urlencode(given), timeout=20)
    except urllib.error.HTTPError as error:
        return json.load(error).get("parameter") if error.code == 400 else None


def is_true_to_its_parameters(path, parameters):
    needed = {p["name"]: {"by": "service", "function": "main"}[p["name"]] for p in parameters if p["required"]}
    if path == "/api/v1/diff": # either of several: this format cannot express it
        needed = {"b_from": "-1h"}
        parameters = [p for p in parameters if p["name"] != "b_from"]
    assert refused(path, needed) is None, (path, needed, refused(path, needed))
    for name in [p["name"] for p in parameters if p["required"]]:
        assert refused(path, {k: v for k, v in needed.items() if k != name}) == name, (path, name)
    for p in parameters:
        for word in p["schema"].get("enum", []):
            assert refused(path, {**needed, p["name"]: word}) is None, (path, p["name"], word)
        if "enum" in p["schema"]:
            assert refused(path, {**needed, p["name"]: "nonsense"}) == p["name"], (path, p["name"])


count = words = 0
for path, operations in description["paths"].items():
    names = set(re.findall(r"{(\w+)}", path))
    for method, operation in operations.items():
        assert {p["name"] for p in operation["parameters"] if p["in"] == "path"} == names, (path, method)
        assert len({(p["in"], p["name"]) for p in operation["parameters"]}) == len(operation["parameters"]), (path, method)
        assert all(scheme in schemes for rule in operation["security"] for scheme in rule), (path, method)
        request = urllib.request.Request(url + re.sub(r"{\w+}", "00", path), method=method.upper(), data=b"" if method == "put" else None)
        try:
            status = urllib.request.urlopen(request, timeout=20).status
        except urllib.error.HTTPError as error:
            status = error.code
            assert b"no such route" not in error.read(), (path, method)
        assert status not in (405, 500), (path, method, status)
        if method == "get" and path.startswith("/api/") and not names:
            is_true_to_its_parameters(path, operation["parameters"])
            words += sum(len(p["schema"].get("enum", [])) for p in operation["parameters"])
        count += 1
assert words > 10, words
print(f"{count} operations of {len(description['paths'])} paths are described and served")
