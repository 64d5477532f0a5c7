# Where OpenCV looks: first in the toolkit, then where CMake looks by itself.
find_library(CUDNN_LIBRARY cudnn PATHS ${CUDA_TOOLKIT_ROOT_DIR} ENV CUDA_PATH ENV CUDA_LIB_PATH
  PATH_SUFFIXES lib64 lib/x64 lib NO_DEFAULT_PATH)
find_library(CUDNN_LIBRARY cudnn)
find_path(CUDNN_INCLUDE_DIR cudnn.h PATHS ${CUDA_TOOLKIT_ROOT_DIR} PATH_SUFFIXES include NO_DEFAULT_PATH)
find_path(CUDNN_INCLUDE_DIR cudnn.h)
tell(CUDNN_LIBRARY)
tell(CUDNN_INCLUDE_DIR)
