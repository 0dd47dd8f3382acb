# Every test has one label: `slow` for what needs a large sample or a long time, `server` for what
# starts servers, `fast` for the rest. scripts/check runs what is fast.
set(BLOOMERY_SLOW_TESTS test_rates cli_kill cli_lost)

# Labels the tests of the folder it is called in, once all of them are known.
function(bloomery_label_tests)
  get_property(names DIRECTORY PROPERTY TESTS)
  foreach(name ${names})
    if(name IN_LIST BLOOMERY_SLOW_TESTS)
      set(label slow)
    elseif(name MATCHES "^(module|redis)_|_push_pull$" AND NOT name MATCHES "^module_(test|fuzz_payloads)")
      set(label server)
    else()
      set(label fast)
    endif()
    set_tests_properties(${name} PROPERTIES LABELS ${label})
  endforeach()
endfunction()

# At the end of the folder's CMakeLists.txt, wherever that returns. (The presets need CMake 3.21.)
macro(bloomery_label_tests_later)
  if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.19)
    cmake_language(DEFER CALL bloomery_label_tests)
  endif()
endmacro()
