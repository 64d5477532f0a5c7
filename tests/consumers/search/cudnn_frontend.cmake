# Where cudnn-frontend's and Transformer Engine's module looks, and the targets it makes.
if(NOT (TARGET CUDNN::cudnn AND TARGET CUDNN::cudnn_all))
  add_library(CUDNN::cudnn_all INTERFACE IMPORTED)
  find_path(CUDNN_INCLUDE_DIR cudnn.h
    HINTS $ENV{CUDNN_INCLUDE_PATH} ${CUDNN_INCLUDE_PATH} $ENV{CUDNN_PATH} ${CUDNN_PATH}
    PATH_SUFFIXES include REQUIRED)
  file(STRINGS "${CUDNN_INCLUDE_DIR}/cudnn_version.h" major REGEX "define CUDNN_MAJOR")
  string(REGEX REPLACE "[^0-9]" "" major "${major}")
  foreach(name IN ITEMS cudnn cudnn_graph cudnn_engines_runtime_compiled cudnn_ops cudnn_cnn cudnn_adv
                        cudnn_engines_precompiled cudnn_heuristic cudnn_ext)
    find_library(${name}_LIBRARY NAMES ${name} lib${name}.so.${major} NAMES_PER_DIR
      HINTS $ENV{CUDNN_LIBRARY_PATH} ${CUDNN_LIBRARY_PATH} $ENV{CUDNN_PATH} ${CUDNN_PATH}
      PATH_SUFFIXES lib64 lib/x64 lib)
    if(${name}_LIBRARY)
      add_library(CUDNN::${name} UNKNOWN IMPORTED)
      set_target_properties(CUDNN::${name} PROPERTIES
        IMPORTED_LOCATION "${${name}_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${CUDNN_INCLUDE_DIR}")
    endif()
    # The optional ones are linked whether they were found or not; only this one is truly optional.
    if(NOT name STREQUAL "cudnn_ext")
      target_link_libraries(CUDNN::cudnn_all INTERFACE CUDNN::${name})
      tell(${name}_LIBRARY)
    endif()
  endforeach()
  tell(CUDNN_INCLUDE_DIR)
endif()
