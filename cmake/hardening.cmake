# Options that make memory errors harder to exploit, where the compiler and the linker have them. They are part of
# bloomery_flags, so they apply to all targets of this project, but not to programs that link the library.
#
# Not with sanitizers, which detect more, and conflict with these options.
if(NOT BLOOMERY_HARDENING OR BLOOMERY_SANITIZE)
  return()
endif()
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)

# Protects return addresses on the stack, and restricts the targets of indirect jumps.
foreach(flag -fstack-protector-strong -fcf-protection=full -mbranch-protection=standard)
  string(MAKE_C_IDENTIFIER "BLOOMERY_HAS${flag}" known)
  check_c_compiler_flag("-Werror ${flag}" ${known})
  if(${known})
    target_compile_options(bloomery_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:${flag}>)
  endif()
endforeach()

# The size checks of the C library need optimisation, and a packager may have set a level already. Old compilers have
# only level 2, and warn about others.
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

# Makes the dynamic linker's tables read-only before the program starts, and the stack not executable.
foreach(flag -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
  string(MAKE_C_IDENTIFIER "BLOOMERY_HAS${flag}" known)
  set(CMAKE_REQUIRED_LINK_OPTIONS ${flag})
  check_c_source_compiles("int main(void) { return 0; }" ${known})
  if(${known})
    target_link_options(bloomery_flags INTERFACE ${flag})
  endif()
endforeach()
unset(CMAKE_REQUIRED_LINK_OPTIONS)

# Loads programs at random addresses. Not in a subproject: it has no programs, and this would change how the parent's
# programs are linked.
if(top_level)
  include(CheckPIESupported)
  check_pie_supported(LANGUAGES C)
endif()
