# Where CTranslate2's CMakeLists.txt looks.
find_path(CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDA_TOOLKIT_ROOT_DIR} PATH_SUFFIXES include)
find_library(CUDNN_LIBRARIES cudnn HINTS ${CUDA_TOOLKIT_ROOT_DIR} PATH_SUFFIXES lib lib64 lib/x64)
tell(CUDNN_INCLUDE_DIR)
tell(CUDNN_LIBRARIES)
