# SPDX-License-Identifier: Apache-2.0
if(WITH_AGENT AND WITH_COLLECTOR)
  fuzz_target(fuzz_known DEPS upload cli proto common)
endif()
