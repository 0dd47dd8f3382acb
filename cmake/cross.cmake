# Toolchain: Debian's cross compilers; qemu-user runs the programs.
#
#     -DCMAKE_TOOLCHAIN_FILE=cmake/cross.cmake -DBLOOMERY_CROSS=s390x-linux-gnu [-DBLOOMERY_CROSS_ROOT=...]
#
# BLOOMERY_CROSS_ROOT is a folder in which packages of that architecture are unpacked (scripts/test-cross).
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES BLOOMERY_CROSS BLOOMERY_CROSS_ROOT)
string(REGEX MATCH "^[^-]+" CMAKE_SYSTEM_PROCESSOR "${BLOOMERY_CROSS}")
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${BLOOMERY_CROSS}-gcc)
# Debian's folder names and qemu call every 32-bit x86 processor i386.
string(REPLACE i686 i386 CMAKE_LIBRARY_ARCHITECTURE ${BLOOMERY_CROSS})
string(REPLACE i686 i386 emulated ${CMAKE_SYSTEM_PROCESSOR})
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${emulated} -L /usr/${BLOOMERY_CROSS})
# A 64-bit x86 processor runs 32-bit programs directly, whereas qemu takes minutes to allocate large blocks.
if(emulated STREQUAL i386 AND CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL x86_64)
  set(CMAKE_CROSSCOMPILING_EMULATOR /usr/${BLOOMERY_CROSS}/lib/ld-linux.so.2
    --library-path /usr/${BLOOMERY_CROSS}/lib)
endif()

# Finds programs only on the host; headers, libraries and packages never there.
set(CMAKE_FIND_ROOT_PATH ${BLOOMERY_CROSS_ROOT} /usr/${BLOOMERY_CROSS})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(what INCLUDE LIBRARY PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${what} ONLY)
endforeach()
set(ENV{PKG_CONFIG_PATH} "")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${BLOOMERY_CROSS_ROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${BLOOMERY_CROSS_ROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pkgconfig")
