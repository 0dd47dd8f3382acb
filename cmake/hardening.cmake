# What makes errors in memory harder to exploit: each option where compiler and linker know it. They
# are part of bloomery_flags, so they hold for every target and for none that links with the library.
#
# The sanitizers do more and get in each other's way with these.
if(NOT BLOOMERY_HARDENING OR BLOOMERY_SANITIZE)
  return()
endif()
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)

# Return addresses on the stack are guarded, and indirect jumps land only where they may.
foreach(flag -fstack-protector-strong -fcf-protection=full -mbranch-protection=standard)
  string(MAKE_C_IDENTIFIER "BLOOMERY_HAS${flag}" known)
  check_c_compiler_flag("-Werror ${flag}" ${known})
  if(${known})
    target_compile_options(bloomery_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:${flag}>)
  endif()
endforeach()

# The C library's checks of sizes need optimisation, and a packager may have chosen a level already.
# Old compilers know level 2 alone, and say so in a warning.
function(find_fortify_level config level)
  set(CMAKE_TRY_COMPILE_CONFIGURATION ${config})
  set(CMAKE_REQUIRED_FLAGS -Werror)
  foreach(candidate 3 2)
    string(CONCAT source
      "#if defined _FORTIFY_SOURCE || !defined __OPTIMIZE__\n#error not wanted\n#endif\n"
      "#define _FORTIFY_SOURCE ${candidate}\n#include <string.h>\nint main(void) { return 0; }\n")
    set(known BLOOMERY_HAS_FORTIFY_${candidate}_${config})
    check_c_source_compiles("${source}" ${known})
    if(${known})
      set(${level} ${candidate} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()
set(configs ${CMAKE_BUILD_TYPE})
if(CMAKE_CONFIGURATION_TYPES)
  set(configs ${CMAKE_CONFIGURATION_TYPES})
endif()
foreach(config ${configs})
  set(fortify "")
  find_fortify_level(${config} fortify)
  if(fortify)
    target_compile_definitions(bloomery_flags INTERFACE
      $<$<AND:$<COMPILE_LANGUAGE:C>,$<CONFIG:${config}>>:_FORTIFY_SOURCE=${fortify}>)
  endif()
endforeach()

# The tables of the dynamic linker are read-only when the program starts, and no stack is executable.
foreach(flag -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
  string(MAKE_C_IDENTIFIER "BLOOMERY_HAS${flag}" known)
  set(CMAKE_REQUIRED_LINK_OPTIONS ${flag})
  check_c_source_compiles("int main(void) { return 0; }" ${known})
  if(${known})
    target_link_options(bloomery_flags INTERFACE ${flag})
  endif()
endforeach()
unset(CMAKE_REQUIRED_LINK_OPTIONS)

# Programs lie at random addresses. A subproject has no programs, and this would change how those of the
# parent are linked.
if(top_level)
  include(CheckPIESupported)
  check_pie_supported(LANGUAGES C)
endif()
