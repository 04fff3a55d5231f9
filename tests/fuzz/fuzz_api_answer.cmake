# SPDX-License-Identifier: Apache-2.0
if(WITH_AGENT)
  fuzz_target(fuzz_api_answer DEPS cli report fetch symbol_list symbol view elf proc ring intake proto common
              LIBS PkgConfig::CJSON)
endif()
