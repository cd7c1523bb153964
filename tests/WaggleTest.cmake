# waggle_test(unit_dht LABEL unit LIBS waggle::dht SOURCES a_test.cpp …): one doctest program.
# Vectors are read from tests/vectors at run time, by way of WAGGLE_SOURCE_DIR.
function(waggle_test name)
  cmake_parse_arguments(arg "" "LABEL;TIMEOUT" "SOURCES;LIBS" ${ARGN})
  if(NOT arg_SOURCES OR NOT WAGGLE_TESTS)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${arg_LIBS} waggle_test_support third_party::doctest waggle_warnings)
  # Where what is tested is optimized and its tests need not be: they are half of the compiler's time.
  target_compile_options(${name} PRIVATE ${WAGGLE_TEST_FLAGS})
  # ninja unit_tests, ninja vectors_tests: what a stage needs, and nothing else of the tree.
  if(NOT TARGET ${arg_LABEL}_tests)
    add_custom_target(${arg_LABEL}_tests)
  endif()
  add_dependencies(${arg_LABEL}_tests ${name})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABEL}" TIMEOUT ${arg_TIMEOUT}
    ENVIRONMENT "WAGGLE_SOURCE_DIR=${PROJECT_SOURCE_DIR};WAGGLE_BINARY_DIR=${PROJECT_BINARY_DIR}")
endfunction()
