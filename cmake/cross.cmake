# Toolchain: Debian's cross compilers, with what they build run by qemu-user.
#
#     -DCMAKE_TOOLCHAIN_FILE=cmake/cross.cmake -DBLOOMERY_CROSS=s390x-linux-gnu [-DBLOOMERY_CROSS_ROOT=...]
#
# BLOOMERY_CROSS_ROOT is a directory with packages of that architecture unpacked in it: scripts/test-cross.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES BLOOMERY_CROSS BLOOMERY_CROSS_ROOT)
string(REGEX MATCH "^[^-]+" CMAKE_SYSTEM_PROCESSOR "${BLOOMERY_CROSS}")
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${BLOOMERY_CROSS}-gcc)
# Debian's folders and qemu call every 32-bit x86 processor i386.
string(REPLACE i686 i386 CMAKE_LIBRARY_ARCHITECTURE ${BLOOMERY_CROSS})
string(REPLACE i686 i386 emulated ${CMAKE_SYSTEM_PROCESSOR})
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${emulated} -L /usr/${BLOOMERY_CROSS})
# 64-bit x86 runs 32-bit programs by itself, and qemu takes minutes to find room for large blocks.
if(emulated STREQUAL i386 AND CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL x86_64)
  set(CMAKE_CROSSCOMPILING_EMULATOR /usr/${BLOOMERY_CROSS}/lib/ld-linux.so.2
    --library-path /usr/${BLOOMERY_CROSS}/lib)
endif()

# Programs are the host's; headers, libraries and packages never are.
set(CMAKE_FIND_ROOT_PATH ${BLOOMERY_CROSS_ROOT} /usr/${BLOOMERY_CROSS})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(what INCLUDE LIBRARY PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${what} ONLY)
endforeach()
set(ENV{PKG_CONFIG_PATH} "")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${BLOOMERY_CROSS_ROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${BLOOMERY_CROSS_ROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pkgconfig")
