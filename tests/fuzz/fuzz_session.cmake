# SPDX-License-Identifier: Apache-2.0
if(WITH_COLLECTOR)
  fuzz_target(fuzz_session DEPS ingest quota identity proto common)
endif()
