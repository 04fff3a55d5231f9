# SPDX-License-Identifier: Apache-2.0
if(WITH_AGENT)
  fuzz_target(fuzz_perf_record DEPS perf intake proto common)
endif()
