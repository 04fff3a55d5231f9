# SPDX-License-Identifier: Apache-2.0
# open_metrics.py TEXT OPEN: two scrapes of one collector, in Prometheus' text format and in
# OpenMetrics. The strict parser of Prometheus' own client accepts the latter, and both have the
# same samples. Prints the number of families.
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_families
from prometheus_client.parser import text_string_to_metric_families as text_families


def samples(families):
    return {(sample.name, tuple(sorted(sample.labels.items()))) for family in families for sample in family.samples}


families = list(open_families(open(sys.argv[2]).read()))
one, other = samples(text_families(open(sys.argv[1]).read())), samples(families)
assert len(one ^ other) <= 1, sorted(one ^ other)  # the scrape itself is counted: its row may be in the later one alone
counters = [family.name for family in families if family.type == "counter"]
assert len(counters) > 30 and not any(name.endswith("_total") for name in counters), counters
print(f"{len(families)} families in both forms")
