"""fuzz_target(): one libFuzzer entry point, used in two ways.

NAME_replay is an ordinary test: it runs the entry point over the kept corpus, in every
configuration. NAME is the fuzzer itself; it needs clang: tests/fuzz/run_fuzzers.sh.
"""

def fuzz_target(name, srcs, deps, corpus):
    """Declares the fuzzer and the replay test.

    Args:
      name: name of the fuzzer, NAME_fuzz by habit.
      srcs: defines LLVMFuzzerTestOneInput.
      deps: libraries under test.
      corpus: files that the replay test runs over; must not be empty.
    """
    native.cc_library(
        name = name + "_entry",
        testonly = True,
        srcs = srcs,
        alwayslink = True,
        deps = deps,
    )
    native.cc_test(
        name = name + "_replay",
        size = "small",
        args = ["$(locations %s)" % corpus_file for corpus_file in corpus],
        data = corpus,
        deps = [
            ":replay_main",
            ":" + name + "_entry",
        ],
    )
    native.cc_binary(
        name = name,
        testonly = True,
        linkopts = ["-fsanitize=fuzzer"],
        tags = ["manual"],
        deps = [":" + name + "_entry"],
    )
