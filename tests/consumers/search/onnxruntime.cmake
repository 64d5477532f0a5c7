# Where ONNX Runtime looks: build.py turns CUDNN_HOME into CUDNN_PATH, and every one of the parts must be there.
set(CUDNN_PATH "$ENV{CUDNN_HOME}")
find_path(CUDNN_INCLUDE_DIR cudnn.h HINTS $ENV{CUDNN_PATH} ${CUDNN_PATH} PATH_SUFFIXES include REQUIRED)
tell(CUDNN_INCLUDE_DIR)
file(READ "${CUDNN_INCLUDE_DIR}/cudnn_version.h" header)
string(REGEX MATCH "#define CUDNN_MAJOR ([1-9]+)" _ "${header}")
foreach(name IN ITEMS cudnn cudnn_cnn cudnn_adv cudnn_graph cudnn_ops cudnn_engines_runtime_compiled
                      cudnn_engines_precompiled cudnn_heuristic)
  find_library(${name}_LIBRARY ${name} lib${name}.so.${CMAKE_MATCH_1}
    HINTS $ENV{CUDNN_PATH} ${CUDNN_PATH} PATH_SUFFIXES lib64 lib/x64 lib REQUIRED)
  tell(${name}_LIBRARY)
endforeach()
