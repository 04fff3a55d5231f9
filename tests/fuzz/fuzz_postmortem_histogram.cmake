# SPDX-License-Identifier: Apache-2.0
if(WITH_AGENT)
  fuzz_target(fuzz_postmortem_histogram DEPS drain walk census targets keeper perf proc elf ring intake tables unwind proto common)
endif()
