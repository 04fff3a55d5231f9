#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prometheus scrapes the collector, promtool finds no fault, each expression of the Grafana dashboard has an answer; the
# OpenAPI description is valid and true; each command of docs/cookbook.md works on real data.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
start_collector --watch alpha_sixty --watch nobody_has_this
url=http://127.0.0.1:$H
enroll press-7
run --service shop --hz 499 --label version=1.0 -- "$targets/truth" 1 >"$W/truth.log" || fail "truth ended with $?"
run --service shop --hz 499 --label version=1.1 -- "$targets/truth" 1 >>"$W/truth.log" || fail "truth ended with $?"
until_true 20 names_are_settled || fail "names go on changing"

curl -fs "$url/metrics" >"$W/metrics" || fail "no metrics"
promtool check metrics <"$W/metrics" >"$W/promtool" 2>&1 || fail "promtool: $(cat "$W/promtool")"
curl -fs -D "$W/head" -H 'Accept: application/openmetrics-text; version=1.0.0' "$url/metrics" >"$W/open" || fail "no OpenMetrics"
grep -qi '^content-type: application/openmetrics-text; version=1.0.0; charset=utf-8' "$W/head" || fail "typed $(grep -i content-type "$W/head")"
/usr/bin/python3 "$here/open_metrics.py" "$W/metrics" "$W/open" >"$W/forms" 2>&1 || fail "OpenMetrics: $(tail -n 1 "$W/forms")"
say "$(cat "$W/forms")"
# Compared with the answers: losses, time without names, and watched functions by release.
metric() { awk -v name="$1" 'index($0, name " ") == 1 { print $2 }' "$W/metrics"; }
books="$(metric fleetprof_samples_produced_total) $(metric fleetprof_samples_stored_total)"
[ "$books" = "$(api loss | json "f\"{d['produced']} {d['stored']}\"")" ] || fail "the books are $books: $(api loss)"
[ "$(grep -c '^fleetprof_samples_dropped{reason=' "$W/metrics")" = "$(grep -c '^  X(' "$root/proto/loss.h")" ] || fail "not each reason for loss has a line"
for release in 1.0 1.1; do
  told=$(metric "fleetprof_function_cpu_ratio{release=\"$release\",function=\"alpha_sixty\"}")
  share=$(profile "{version=\"$release\"}" -d limit=1000 | json "next(f['total_share'] for f in d['functions'] if f['name'] == 'alpha_sixty')")
  awk -v told="$told" -v share="$share" 'BEGIN { exit !(told != "" && told > 0.3 && (told - share) ^ 2 < 1e-8) }' || fail "of $release the metric says ${told:-nothing}, the table $share"
done
[ "$(metric 'fleetprof_function_cpu_ratio{release="1.0",function="nobody_has_this"}')" = 0.000000 ] || fail "what nobody has is no 0"
nameless=$(metric fleetprof_unsymbolized_samples_ratio)
counted=$(profile '{}' -d limit=100000 | json "sum(f['self_samples'] for f in d['functions'] if f['quality'] == 'none') / sum(f['self_samples'] for f in d['functions'] if f['quality'])")
awk -v told="$nameless" -v counted="$counted" 'BEGIN { exit !(told != "" && (told - counted) ^ 2 < 1e-8) }' || fail "without a name are ${nameless:-?}, counted $counted"
grep -q '^fleetprof_build_info{version="[^"]*",commit="[^"]*"} 1$' "$W/metrics" || fail "no commit: $(grep build_info "$W/metrics")"
P=$(port)
cat >"$W/prometheus.yml" <<END
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
  - {job_name: fleetprof, static_configs: [{targets: ["127.0.0.1:$H"]}]}
END
prometheus --config.file="$W/prometheus.yml" --storage.tsdb.path="$W/tsdb" --web.listen-address="127.0.0.1:$P" >"$W/prometheus.log" 2>&1 &
started+=($!)
scraped() { # at least twice, or there is no rate
  curl -fsG "http://127.0.0.1:$P/api/v1/query" --data-urlencode 'query=count_over_time(fleetprof_http_requests_total{route="/metrics"}[1m])' |
    json "any(float(r['value'][1]) >= 2 for r in d['data']['result'])" 2>/dev/null | grep -q yes
}
until_true 60 scraped || fail "prometheus has not scraped: $(tail -n 3 "$W/prometheus.log")"
curl -fs "$url/metrics" >"$W/metrics"
/usr/bin/python3 "$here/dashboard.py" "$root/deploy/grafana/fleetprof-collector.json" "$W/metrics" "http://127.0.0.1:$P" >"$W/panels" 2>&1 ||
  fail "the dashboard: $(tail -n 1 "$W/panels")"
say "$(cat "$W/panels")"
/usr/bin/python3 "$here/openapi_valid.py" "$url" >"$W/openapi" 2>&1 || fail "the description: $(tail -n 3 "$W/openapi")"
say "$(cat "$W/openapi")"

# The cookbook, run in a user's place: its lines between ```sh and ``` are commands, one a line.
mkdir "$W/kitchen" && cd "$W/kitchen" || fail "no kitchen"
fleetprof-collector token --data "$W/data" --role symbols >token || fail "no token"
cp "$targets/truth" shop || fail "no program"
cooked=0
while IFS= read -r command; do
  case $command in '' | '#'*) continue ;; esac
  printf '%s\n' "${command//127.0.0.1:7480/127.0.0.1:$H}" >command
  bash -eu -o pipefail command >out 2>err </dev/null || fail "$command: exit $?: $(tail -n 3 err out)"
  [ -s out ] || [[ $command == *' -o '* ]] || fail "$command: says nothing"
  ! grep -q '"total":0,' out || fail "$command: finds nothing"
  cooked=$((cooked + 1))
done < <(sed -n '/^```sh$/,/^```$/{/^```/d;p}' "$root/docs/cookbook.md")
[ $cooked -ge 15 ] || fail "only $cooked commands in the cookbook"
say "$cooked commands of the cookbook work"
