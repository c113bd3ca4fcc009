"""Finds an MPI library by its compiler wrapper, or stands in an empty one.

Looked for: the file named by MPICC, else mpicc in PATH (Open MPI and MPICH both answer). A machine
without MPI builds and tests everything else with the same commands: `@mpi//:available.bzl` then
says False, and programs run with one rank only.
"""

def _flags(ctx, mpicc):
    # Open MPI says -showme, MPICH says -show; both print the compiler command line.
    for option in ["-showme", "-show"]:
        result = ctx.execute([mpicc, option])
        if result.return_code == 0:
            return [flag for flag in result.stdout.replace("\n", " ").split(" ") if flag]
    return []

def _mpi_impl(ctx):
    wanted = ctx.os.environ.get("MPICC", "")
    mpicc = ctx.path(wanted) if wanted else ctx.which("mpicc")
    flags = _flags(ctx, mpicc) if mpicc else []
    folders = [flag[2:] for flag in flags if flag.startswith("-I")]
    headers = [folder for folder in folders if ctx.path(folder + "/mpi.h").exists]
    available = len(headers) > 0
    if available:
        ctx.symlink(headers[0], "include")
    ctx.file("available.bzl", "MPI_AVAILABLE = %s\n" % available)
    ctx.file("BUILD", """
cc_library(
    name = "mpi",
    hdrs = glob(["include/**/*.h"], allow_empty = True),
    includes = ["include"],
    linkopts = %r,
    visibility = ["//visibility:public"],
)
""" % [flag for flag in flags if flag.startswith("-L") or flag.startswith("-l") or
                                 flag.startswith("-Wl,")])

mpi_library = repository_rule(
    implementation = _mpi_impl,
    environ = ["MPICC"],
    local = True,
)
