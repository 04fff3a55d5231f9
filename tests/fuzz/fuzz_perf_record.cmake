# SPDX-License-Identifier: Apache-2.0
fuzz_target(fuzz_perf_record DEPS daemon ring intake proto common)
