"""Finds the CUDA toolkit, or stands in an empty one.

Looked for, in this order: the folder CUDA_HOME, then /usr/local/cuda. A machine without CUDA
builds and tests everything else with the same commands: `@cuda//:available.bzl` then says False.
"""

def _cuda_toolkit_impl(ctx):
    home = ctx.os.environ.get("CUDA_HOME", "/usr/local/cuda")
    nvcc = ctx.path(home + "/bin/nvcc")
    header = ctx.path(home + "/include/cuda_runtime.h")
    available = nvcc.exists and header.exists
    ctx.file("available.bzl", "CUDA_AVAILABLE = %s\nCUDA_HOME = %r\n" % (available, home if available else ""))
    if available:
        ctx.symlink(home + "/include", "include")
        ctx.symlink(home + "/lib64", "lib64")
    ctx.file("BUILD", """
cc_library(
    name = "headers",
    hdrs = glob(["include/**"], allow_empty = True),
    includes = ["include"],
    visibility = ["//visibility:public"],
)
""")

cuda_toolkit = repository_rule(
    implementation = _cuda_toolkit_impl,
    environ = ["CUDA_HOME"],
    local = True,
)
