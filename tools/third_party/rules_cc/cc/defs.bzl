"""Stand-in for rules_cc: re-exports the native C++ rules.

@bazel_tools//tools/cpp loads @rules_cc//cc:defs.bzl. Debian's copy of rules_cc is
too new for Debian's Bazel, and nothing may be downloaded during a build.
"""

cc_binary = native.cc_binary
cc_import = native.cc_import
cc_library = native.cc_library
cc_proto_library = native.cc_proto_library
cc_test = native.cc_test
cc_toolchain = native.cc_toolchain
cc_toolchain_suite = native.cc_toolchain_suite
fdo_prefetch_hints = native.fdo_prefetch_hints
fdo_profile = native.fdo_profile
objc_import = native.objc_import
objc_library = native.objc_library
