# <bloomery/bloomery.hpp>, with exceptions, without them and as C++20, and its example. hash_oracles.cmake
# has looked for a C++ compiler.
set(cpp_tests unit_cpp_wrapper unit_cpp_wrapper_no_exceptions unit_cpp_wrapper_20 examples_cpp_dedup)
set(reason "")
if(NOT CMAKE_CXX_COMPILER)
  set(reason "g++ is not installed")
elseif(CMAKE_CROSSCOMPILING)
  set(reason "cross-compiling")
else()
  enable_language(CXX)
  if(BLOOMERY_SANITIZE AND NOT CMAKE_CXX_COMPILER_ID STREQUAL CMAKE_C_COMPILER_ID)
    set(reason "the C and the C++ compiler have different sanitizers")
  endif()
endif()
if(reason)
  foreach(name ${cpp_tests})
    bloomery_skip(${name} "${reason}")
  endforeach()
  return()
endif()

# bloomery_cpp_program(NAME STANDARD FILE)
function(bloomery_cpp_program name standard file)
  add_executable(${name} ${PROJECT_SOURCE_DIR}/${file})
  set_target_properties(${name} PROPERTIES CXX_STANDARD ${standard} CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  target_compile_definitions(${name} PRIVATE CPP_WRAPPER_NAME="${name}")
  target_link_libraries(${name} PRIVATE bloomery_static bloomery_flags Threads::Threads)
endfunction()

foreach(test unit_cpp_wrapper unit_cpp_wrapper_no_exceptions unit_cpp_wrapper_20)
  string(REPLACE unit_ test_ program ${test})
  if(test STREQUAL unit_cpp_wrapper_20)
    if(NOT cxx_std_20 IN_LIST CMAKE_CXX_COMPILE_FEATURES)
      bloomery_skip(${test} "the C++ compiler does not know C++20")
      continue()
    endif()
    bloomery_cpp_program(${program} 20 tests/unit/cpp_wrapper.cc)
  else()
    bloomery_cpp_program(${program} 17 tests/unit/cpp_wrapper.cc)
  endif()
  add_test(NAME ${test} COMMAND ${program})
endforeach()
target_compile_options(test_cpp_wrapper_no_exceptions PRIVATE -fno-exceptions -fno-rtti)

# A second run prints only the lines that the first did not have. An error is status 2 and a line on standard error.
bloomery_cpp_program(dedup_cpp 17 examples/cpp/dedup.cpp)
add_test(NAME examples_cpp_dedup COMMAND sh -c [=[
  rm -f dedup_cpp.bly
  [ "$(printf 'a\nb\na\n' | "$1" | tr '\n' ,)" = a,b, ] &&
  [ "$(printf 'a\nb\n' | "$1" dedup_cpp.bly | tr '\n' ,)" = a,b, ] &&
  [ "$(printf 'b\nc\n' | "$1" dedup_cpp.bly | tr '\n' ,)" = c, ] || exit 1
  echo x | "$1" . 2>dedup_cpp.err
  [ $? -eq 2 ] && [ -s dedup_cpp.err ]]=]
  sh $<TARGET_FILE:dedup_cpp>)
