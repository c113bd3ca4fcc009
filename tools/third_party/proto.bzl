"""cc_proto(): C++ code from one .proto file, made with the installed protoc."""

def cc_proto(name, src, deps = [], visibility = None):
    """Generates SRC's .pb.h and .pb.cc and wraps them in a cc_library.

    Args:
      name: name of the cc_library.
      src: the .proto file, in this package; it imports others by path from the repository root.
      deps: cc_proto targets whose .proto files src imports.
      visibility: as for any rule.
    """
    stem = src[:-len(".proto")]
    native.filegroup(
        name = name + "_src",
        srcs = [src] + [dep + "_src" for dep in deps],
        visibility = visibility,
    )
    native.genrule(
        name = name + "_gen",
        srcs = [name + "_src"],
        outs = [stem + ".pb.h", stem + ".pb.cc"],
        cmd = "protoc -I. --cpp_out=$(GENDIR) %s/%s" % (native.package_name(), src),
        message = "Generating %s.pb.*" % stem,
    )
    native.cc_library(
        name = name,
        srcs = [stem + ".pb.cc"],
        hdrs = [stem + ".pb.h"],
        visibility = visibility,
        deps = deps + ["@protobuf"],
    )
