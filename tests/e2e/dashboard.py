# SPDX-License-Identifier: Apache-2.0
# dashboard.py DASHBOARD METRICS PROMETHEUS: each metric in the dashboard's expressions is in
# METRICS, a scrape of the collector; no expression takes the rate of a gauge; and PROMETHEUS
# answers each expression with at least one series. All metrics in METRICS about names, quotas,
# boards, samples and watched functions are on a panel. Prints their number.
import json, re, sys, urllib.parse, urllib.request

dashboard, scrape, prometheus = json.load(open(sys.argv[1])), open(sys.argv[2]).read(), sys.argv[3]
known = set(re.findall(r"^(fleetprof_\w+)[{ ]", scrape, re.M))
expressions = [t["expr"] for panel in dashboard["panels"] for t in panel["targets"]]
shown = set(re.findall(r"fleetprof_\w+", " ".join(expressions)))
unseen = sorted(name for name in known - shown if re.match("fleetprof_(names|quota|board|samples|unsymbolized|function)_", name))
assert not unseen, f"on no panel: {unseen}"
gauges = set(re.findall(r"^# TYPE (fleetprof_\w+) gauge$", scrape, re.M))
risen = set(re.findall(r"\b(?:i?rate|increase)\((fleetprof_\w+)", " ".join(expressions)))
assert risen and not risen & gauges, f"these fall, and are no counters: {sorted(risen & gauges)}"
assert expressions and len({p["id"] for p in dashboard["panels"]}) == len(dashboard["panels"])
for expression in expressions:
    for name in re.findall(r"fleetprof_\w+", expression):
        assert name in known, f"{name}: no such metric is exposed: {expression}"
    asked = expression.replace("$__rate_interval", "1m").replace("$instance", ".*")
    url = f"{prometheus}/api/v1/query?" + urllib.parse.urlencode({"query": asked})
    answer = json.load(urllib.request.urlopen(url, timeout=20))
    assert answer["status"] == "success" and not answer.get("warnings"), f"{expression}: {answer}"
    assert answer["data"]["result"], f"{expression}: no series"
print(f"{len(expressions)} expressions of {len(dashboard['panels'])} panels answered; {len(known)} names exposed")
