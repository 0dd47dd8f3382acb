# The labels of tests, and functions for tests that cannot run.
#
# A test is named FOLDER_FILE: tests/cli/dedup.t is cli_dedup, tests/lists/test_url.c is lists_url,
# tests/checks/check_headers.sh is checks_headers. Each has one of these labels:
#   fast    takes less than about a second of processor time; scripts/check and scripts/test run it
#   medium  takes more; scripts/test runs it
#   server  starts servers; scripts/test runs it
#   slow    needs a large sample or a long time; only scripts/test --full runs it
# Three more labels say that scripts/test --full runs the test again:
#   scalar  without vector instructions
#   threads with the thread sanitizer
#   bare    with a library without its optional packages
#
# NAME_large is the test NAME with a larger sample.
set(BLOOMERY_SLOW_TESTS kinds_rates_large kinds_rates_low cli_kill_large cli_lost_large
  cli_window_lines_large cli_count_truth_large module_stalls_large redis_winners_million checks_readme
  checks_documents checks_install checks_demo checks_subproject)
set(BLOOMERY_MEDIUM_TESTS checks_format checks_headers checks_run_test cli_build cli_confirm cli_count
  cli_count_truth cli_counting cli_cuckoo cli_distinct cli_keyrules cli_kill cli_lost cli_man
  cli_options_everywhere cli_plan cli_rates cli_types cli_window cli_window_lines kinds_build kinds_counting
  kinds_counts kinds_custom_filters kinds_fuse kinds_growth kinds_hll kinds_hostile kinds_plan kinds_programs kinds_rates
  kinds_rates_shapes kinds_sizes kinds_top module_big unit_documents)
set(BLOOMERY_SCALAR_TESTS kinds_counting kinds_files kinds_golden kinds_hybrid kinds_hybrid_set_operations
  kinds_kinds kinds_layered kinds_layered_bytes kinds_multilayer kinds_multilayer_bytes kinds_programs
  kinds_ribbon kinds_set_operations kinds_sizes kinds_store kinds_threads kinds_window kinds_window_bytes)
set(BLOOMERY_THREADS_TESTS examples_threads kinds_build kinds_golden kinds_layered_front kinds_store kinds_threads
  unit_builder unit_kernels)
set(BLOOMERY_BARE_TESTS cli_fold cli_gathered_keys cli_hash cli_help cli_info cli_man cli_no_hiredis cli_no_idn2
  cli_plan cli_types kinds_files kinds_golden kinds_store lists_list lists_list_marks lists_list_read lists_url
  lists_url_node unit_hash)

# The programs of these tests, so that no others are built for them.
add_custom_target(threads_programs)
add_custom_target(bare_programs)

# bloomery_program_of(TEST TARGET): the test needs TARGET.
function(bloomery_program_of test target)
  if(test IN_LIST BLOOMERY_THREADS_TESTS)
    add_dependencies(threads_programs ${target})
  endif()
  if(test IN_LIST BLOOMERY_BARE_TESTS)
    add_dependencies(bare_programs ${target})
  endif()
endfunction()

# bloomery_skip(TEST REASON): lists the test as skipped, with the reason.
function(bloomery_skip test reason)
  add_test(NAME ${test} COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${reason}")
  set_tests_properties(${test} PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
endfunction()

# Labels all tests of the folder that calls it.
function(bloomery_label_tests)
  get_property(names DIRECTORY PROPERTY TESTS)
  foreach(name ${names})
    get_property(labels TEST ${name} PROPERTY LABELS) # `server`, if the folder has set it
    if(name IN_LIST BLOOMERY_SLOW_TESTS)
      set(labels slow)
    elseif(name IN_LIST BLOOMERY_MEDIUM_TESTS)
      set(labels medium)
    elseif(NOT labels)
      set(labels fast)
    endif()
    if(labels STREQUAL slow)
      set_tests_properties(${name} PROPERTIES COST 100) # start them first, because they take longest
    endif()
    foreach(set scalar threads bare)
      string(TOUPPER BLOOMERY_${set}_TESTS list)
      if(name IN_LIST ${list})
        list(APPEND labels ${set})
      endif()
    endforeach()
    set_tests_properties(${name} PROPERTIES LABELS "${labels}")
  endforeach()
endfunction()

# Calls bloomery_label_tests at the end of the folder's CMakeLists.txt, even after return(). Before CMake 3.19 tests
# have no labels; the presets need 3.21.
macro(bloomery_label_tests_later)
  if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.19)
    cmake_language(DEFER CALL bloomery_label_tests)
  endif()
endmacro()
