# SPDX-License-Identifier: Apache-2.0
# Run by `cmake -DWEB=DIR -DOUT=FILE -P embed.cmake`: writes a C table of the page's files in DIR, so
# that it travels inside the program; a page without a script has none to embed.  The ETag is the start of the file's SHA-256.
set(files "/|index.html|text/html"
          "/app.js|app.js|text/javascript"
          "/early.js|early.js|text/javascript"
          "/style.css|style.css|text/css"
          "/icon.svg|icon.svg|image/svg+xml")
set(bytes "")
set(rows "")
set(number 0)
foreach(entry IN LISTS files)
  string(REPLACE "|" ";" entry "${entry}")
  list(GET entry 0 path)
  list(GET entry 1 name)
  list(GET entry 2 type)
  if(NOT EXISTS ${WEB}/${name})
    continue()
  endif()
  file(READ ${WEB}/${name} hex HEX)
  file(SHA256 ${WEB}/${name} hash)
  string(SUBSTRING ${hash} 0 16 hash)
  string(LENGTH "${hex}" len)
  math(EXPR len "${len} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  string(APPEND bytes "static const unsigned char bytes_${number}[] = {${hex}};\n")
  string(APPEND rows "    {\"${path}\", \"${type}; charset=utf-8\", \"\\\"${hash}\\\"\", bytes_${number}, ${len}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUT}.new "/* SPDX-License-Identifier: Apache-2.0 */
/* Made by cmake/embed.cmake. */
#include \"http/assets.h\"

${bytes}
const struct asset assets[] = {
${rows}};
const size_t assets_count = ${number};
")
file(RENAME ${OUT}.new ${OUT})
