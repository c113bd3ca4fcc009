"""cuda_library(): a cc_library whose sources are compiled by nvcc."""

load("@cuda//:available.bzl", "CUDA_AVAILABLE", "CUDA_HOME", "NVCC_VERSION")

# A100, H100 and H200, and code from which drivers make that of later devices.
_TARGETS = [
    "-gencode=arch=compute_80,code=sm_80",
    "-gencode=arch=compute_90,code=[sm_90,compute_90]",
]

_OPTIONS = [
    "-std=c++17",
    "-O3",
    "--extended-lambda",
    "--expt-relaxed-constexpr",
    "-Xcompiler=-fPIC,-Wall,-Wextra",
]

def _cuda_objects_impl(ctx):
    info = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    context = info.compilation_context
    objects = []
    for source in ctx.files.srcs:
        object = ctx.actions.declare_file("%s/%s.pic.o" % (ctx.label.name, source.basename[:-3]))
        arguments = ctx.actions.args()
        arguments.add_all(_TARGETS + _OPTIONS + ctx.attr.copts)
        arguments.add_all(context.defines, before_each = "-D")
        arguments.add_all(["."], before_each = "-I")
        for folders in [context.includes, context.quote_includes, context.system_includes]:
            arguments.add_all(folders, before_each = "-I")
        arguments.add("-c", source)
        arguments.add("-o", object)
        ctx.actions.run(
            executable = CUDA_HOME + "/bin/nvcc",
            arguments = [arguments],
            inputs = depset([source] + ctx.files.hdrs, transitive = [context.headers]),
            outputs = [object],
            # A new toolkit compiles anew.
            env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "NVCC_VERSION": NVCC_VERSION},
            mnemonic = "CudaCompile",
            progress_message = "Compiling %s for the GPU" % source.short_path,
        )
        objects.append(object)
    return [DefaultInfo(files = depset(objects))]

_cuda_objects = rule(
    implementation = _cuda_objects_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".cu"]),
        "hdrs": attr.label_list(allow_files = True),
        "deps": attr.label_list(providers = [CcInfo]),
        "copts": attr.string_list(),
    },
)

def cuda_library(name, srcs, hdrs = [], deps = [], copts = [], **kwargs):
    """A library of .cu files. Without CUDA only its headers are there.

    Args:
      name: name of the cc_library.
      srcs: .cu files.
      hdrs: headers, as for cc_library.
      deps: cc_library targets; the CUDA runtime is added.
      copts: further options of nvcc.
      **kwargs: as for any rule.
    """
    all_deps = deps + ["@cuda//:cudart"]
    if CUDA_AVAILABLE:
        _cuda_objects(
            name = name + "_objects",
            srcs = srcs,
            hdrs = hdrs,
            copts = copts,
            deps = all_deps,
            testonly = kwargs.get("testonly", False),
            visibility = ["//visibility:private"],
        )
    native.cc_library(
        name = name,
        srcs = [name + "_objects"] if CUDA_AVAILABLE else [],
        hdrs = hdrs,
        deps = all_deps,
        **kwargs
    )
