# PyTorch finds cuDNN by a module of its own, which is what makes CUDNN_ROOT count.
list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}/torch_modules")
find_package(CUDNN)
tell(CUDNN_INCLUDE_PATH)
tell(CUDNN_LIBRARY_PATH)
