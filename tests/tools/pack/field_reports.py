#!/usr/bin/env python3
"""Checks that every test which field_reports.md names is there, and that no row lacks one.

usage: field_reports.py, anywhere in a clone. Prints what is missing; exit status 1 then.
"""
import os
import re
import subprocess
import sys

TABLE = "tests/tools/pack/field_reports.md"
SECTIONS = "ABCDE"


def tests_of(files):
    """Names of all GoogleTest cases, and of all tests that are files of their own."""
    names = set()
    for path in files:
        if path.endswith((".case", ".sh")):
            names.add(os.path.basename(path))
        elif path.endswith((".cc", ".h")):
            with open(path, encoding="utf-8") as source:
                cases = re.findall(r"^TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", source.read(), re.M)
            names.update(".".join(case) for case in cases)
    return names


def problems_of(table, tests):
    named = re.compile(r"`(\w+\.\w+)`")
    for name in named.findall(table.split("\n## ", 1)[1]):
        if name not in tests:
            yield f"there is no test {name}"
    sections = re.findall(r"^## (\w)\.", table, re.M)
    if "".join(sections) != SECTIONS:
        yield f"the sections are {sections}"
    for number, answer in re.findall(r"^\| (\d+) \|.*?\|(.*)\|$", table, re.M):
        if not named.search(answer) and "not applicable" not in answer:
            yield f"row {number} names no test"


def main():
    root = subprocess.check_output(["git", "rev-parse", "--show-toplevel"], text=True).strip()
    os.chdir(root)
    files = subprocess.check_output(["git", "ls-files", "tests"], text=True).split("\n")
    with open(TABLE, encoding="utf-8") as source:
        problems = list(problems_of(source.read(), tests_of(files)))
    for problem in problems:
        print(f"{TABLE}: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
