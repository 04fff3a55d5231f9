# SPDX-License-Identifier: Apache-2.0
if(WITH_AGENT)
  fuzz_target(fuzz_kept DEPS daemon uplink credentials drain walk census targets keeper spool perf proc elf ring intake tables unwind proto common
              LIBS PkgConfig::EVENT PkgConfig::EVENT_OPENSSL OpenSSL::SSL OpenSSL::Crypto
                   PkgConfig::ELF Threads::Threads m)
endif()
