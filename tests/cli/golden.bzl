"""cli_case(): one test for each transcript in this folder (see golden.py)."""

def cli_case(name, programs, tags = []):
    """Runs NAME.case with the programs in the PATH.

    Args:
      name: name of the test and of the case file.
      programs: targets of the binaries that the case runs.
      tags: as for any rule.
    """
    native.sh_test(
        name = name,
        size = "small",
        srcs = ["golden.sh"],
        args = ["$(rootpath :%s.case)" % name] + ["$(rootpath %s)" % program for program in programs],
        data = [name + ".case", "golden.py"] + programs,
        tags = tags,
    )
