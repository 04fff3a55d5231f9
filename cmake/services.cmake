# SPDX-License-Identifier: Apache-2.0
# systemd_unit(NAME): installs deploy/systemd/NAME.service.in into PREFIX/lib/systemd/system, with the path of the
# programs at the prefix that they are installed to, which --prefix may choose as late as that.
function(systemd_unit name)
  install(CODE "
    set(unit ${name}.service)
    get_filename_component(prefix \"\${CMAKE_INSTALL_PREFIX}\" ABSOLUTE)
    set(bindir \"\${prefix}/${CMAKE_INSTALL_BINDIR}\")
    set(made \"${CMAKE_BINARY_DIR}/\${unit}\")
    configure_file(\"${CMAKE_SOURCE_DIR}/deploy/systemd/\${unit}.in\" \"\${made}\" @ONLY)
    file(INSTALL \"\${made}\" DESTINATION \"\${prefix}/lib/systemd/system\")")
endfunction()
