"""Finds CUDA, cuDNN and NCCL, or stands in empty ones.

Looked for, in this order: the folder CUDA_HOME, then /usr/local/cuda. All of nvcc, the CUDA
runtime, cuDNN and NCCL must lie there (the wheels of NVIDIA, put into one folder, do). A machine
without them builds and tests everything else with the same commands: `@cuda//:available.bzl` then
says False.
"""

_NEEDED = ["bin/nvcc", "include/cuda_runtime.h", "include/cudnn.h", "include/nccl.h"]

# Folders that hold the libraries, in toolkits and in wheels.
_LIBRARY_FOLDERS = ["lib64", "lib", "targets/x86_64-linux/lib"]

_LIBRARIES = ["cudart", "cudnn", "nccl"]

def _library_file(ctx, folder, name):
    # Wheels may lack the name without a version.
    files = [file.basename for file in ctx.path(folder).readdir()]
    if "lib%s.so" % name in files:
        return "lib%s.so" % name
    versions = sorted([file for file in files if file.startswith("lib%s.so." % name)])
    return versions[0] if versions else None

def _libraries(ctx, home):
    """The folder of the libraries and their file names; None where they are not all there."""
    for name in _LIBRARY_FOLDERS:
        folder = home + "/" + name
        if not ctx.path(folder).exists:
            continue
        files = {library: _library_file(ctx, folder, library) for library in _LIBRARIES}
        if None not in files.values():
            return folder, files
    return None

def _overlay(folder, files):
    text = """
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "headers",
    # nvcc brings its own; these are for C++ compilers.
    hdrs = glob(["include/*.h", "include/*.hpp", "include/crt/*"], allow_empty = True),
    includes = ["include"],
)
"""
    for library in _LIBRARIES:
        linkopts = []
        if files:
            linkopts = ["-L" + folder, "-Wl,-rpath," + folder, "-l:" + files[library]]
        text += """
cc_library(
    name = %r,
    linkopts = %r,
    deps = [":headers"],
)
""" % (library, linkopts)
    return text

def _cuda_toolkit_impl(ctx):
    home = ctx.os.environ.get("CUDA_HOME", "/usr/local/cuda")
    missing = [name for name in _NEEDED if not ctx.path(home + "/" + name).exists]
    libraries = None if missing else _libraries(ctx, home)
    available = libraries != None
    version = ""
    if available:
        ctx.symlink(home + "/include", "include")
        result = ctx.execute([home + "/bin/nvcc", "--version"])
        version = result.stdout.strip().split("\n")[-1]
    ctx.file("available.bzl", "CUDA_AVAILABLE = %s\nCUDA_HOME = %r\nNVCC_VERSION = %r\n" % (
        available,
        home if available else "",
        version,
    ))
    ctx.file("BUILD", _overlay(*(libraries or ("", {}))))

cuda_toolkit = repository_rule(
    implementation = _cuda_toolkit_impl,
    environ = ["CUDA_HOME"],
    local = True,
)
