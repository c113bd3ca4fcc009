"""Repositories for the libraries that Debian installs.

Each library has one overlay (NAME.BUILD) in this folder. A library whose headers lie in the
compiler's default search path needs link options only; the others are rooted at their own
header folder, because the sandbox refuses absolute -I paths.
"""

load("//tools/third_party:cuda.bzl", "cuda_toolkit")
load("//tools/third_party:mpi.bzl", "mpi_library")

# name -> folder that holds the headers named by the overlay
_LIBRARIES = {
    "benchmark": "/usr/include/benchmark",
    "cli11": "/usr/include/CLI",
    "dnnl": "/usr/include/oneapi",
    "googletest": "/usr/include/gtest",
    "hwy": "/usr/include/hwy",
    "isal": "/usr/include/isa-l",
    "jpeg": "/usr/include",
    "opencv": "/usr/include/opencv4",
    "png": "/usr/include/libpng16",
    "protobuf": "/usr/include/google/protobuf",
    "pugixml": "/usr/include",
    "rapidjson": "/usr/include/rapidjson",
    "tiff": "/usr/include",
    "uring": "/usr/include",
    "xxhash": "/usr/include",
    "zlib": "/usr/include",
    "zstd": "/usr/include",
}

def system_libs():
    """Declares one repository per system library, and CUDA and MPI where they are."""
    for name, path in _LIBRARIES.items():
        native.new_local_repository(
            name = name,
            path = path,
            build_file = "//tools/third_party:%s.BUILD" % name,
        )
    cuda_toolkit(name = "cuda")
    mpi_library(name = "mpi")
