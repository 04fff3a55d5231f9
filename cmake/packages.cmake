# SPDX-License-Identifier: Apache-2.0
# The libraries we stand on, as imported targets; each is listed with its reason in DESIGN.md.
find_package(PkgConfig REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(Threads REQUIRED)

function(package target module)
  pkg_check_modules(${target} REQUIRED IMPORTED_TARGET GLOBAL ${module})
endfunction()

package(EVENT libevent_core)
package(EVENT_OPENSSL libevent_openssl)
package(PROTOBUF_C libprotobuf-c)
package(ZSTD libzstd)
package(ELF libelf)
package(INIH inih)
if(WITH_COLLECTOR)
  package(EVENT_EXTRA libevent_extra)
  package(EVENT_PTHREADS libevent_pthreads)
  package(SQLITE sqlite3)
  package(SECCOMP libseccomp)
endif()
find_program(PROTOC_C protoc-c REQUIRED)
