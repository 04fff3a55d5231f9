# SPDX-License-Identifier: Apache-2.0
if(WITH_COLLECTOR)
  fuzz_target(fuzz_tar_header DEPS backup common)
endif()
