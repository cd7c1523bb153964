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
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABEL}" TIMEOUT ${arg_TIMEOUT}
    ENVIRONMENT "WAGGLE_SOURCE_DIR=${PROJECT_SOURCE_DIR};WAGGLE_BINARY_DIR=${PROJECT_BINARY_DIR}")
endfunction()
