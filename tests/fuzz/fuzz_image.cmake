# SPDX-License-Identifier: Apache-2.0
if(WITH_AGENT)
  fuzz_target(fuzz_image DEPS ring)
endif()
