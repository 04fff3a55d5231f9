# SPDX-License-Identifier: Apache-2.0
if(WITH_AGENT)
  fuzz_target(fuzz_postmortem DEPS daemon elf ring intake proto common)
endif()
