# SPDX-License-Identifier: Apache-2.0
if(WITH_COLLECTOR)
  fuzz_target(fuzz_selector DEPS query view store names symbol proto common)
endif()
