#!/usr/bin/env python3
"""Checks that every test which the tables of tests name is there, and that no row lacks one.

usage: field_reports.py, anywhere in a clone. Prints what is missing; exit status 1 then.
"""
import os
import re
import subprocess
import sys

TABLES = {  # and their sections
    "tests/tools/pack/field_reports.md": "ABCDE",
    "tests/trainer/field_reports.md": "LADEFG",
}


def tests_of(files):
    """Names of all GoogleTest cases, and of all tests that are files of their own."""
    names = set()
    for path in files:
        if path.endswith((".case", ".sh", ".py")):
            names.add(os.path.basename(path))
        elif path.endswith((".cc", ".h")):
            with open(path, encoding="utf-8") as source:
                cases = re.findall(r"^TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", source.read(), re.M)
            names.update(".".join(case) for case in cases)
    return names


def problems_of(table, expected_sections, tests):
    named = re.compile(r"`(\w+\.\w+)`")
    for name in named.findall(table.split("\n## ", 1)[1]):
        if name not in tests:
            yield f"there is no test {name}"
    sections = re.findall(r"^## (\w)\.", table, re.M)
    if "".join(sections) != expected_sections:
        yield f"the sections are {sections}"
    for number, answer in re.findall(r"^\| (\d+) \|.*?\|(.*)\|$", table, re.M):
        if not named.search(answer) and "not applicable" not in answer:
            yield f"row {number} names no test"


def main():
    root = subprocess.check_output(["git", "rev-parse", "--show-toplevel"], text=True).strip()
    os.chdir(root)
    files = subprocess.check_output(["git", "ls-files", "tests"], text=True).split("\n")
    tests = tests_of(files)
    failed = False
    for path, sections in TABLES.items():
        with open(path, encoding="utf-8") as source:
            for problem in problems_of(source.read(), sections, tests):
                print(f"{path}: {problem}")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
