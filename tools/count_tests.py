#!/usr/bin/env python3
"""Counts test cases in the XML files of bazel-testlogs.

usage: count_tests.py TESTLOGS //package:test ...

Bazel reports a test program that skipped every case as PASSED, so the cases themselves are
counted. Each skip is listed with its reason and each failure with its test. The last line is
"N passed, N failed, N skipped"; the exit status is 1 when a case failed or none passed.
"""
import glob
import os
import sys
import xml.etree.ElementTree as ElementTree


def xml_files(testlogs, label):
    folder = os.path.join(testlogs, *label.lstrip("@/").replace(":", "/").split("/"))
    shards = sorted(glob.glob(os.path.join(folder, "shard_*", "test.xml")))
    single = os.path.join(folder, "test.xml")
    return shards or ([single] if os.path.exists(single) else [])


def outcome(case):
    """Returns (outcome, reason) of one <testcase>."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed", ""
    skipped = case.find("skipped")
    if skipped is not None or case.get("result") == "skipped":
        reason = "" if skipped is None else skipped.get("message") or skipped.text or ""
        return "skipped", " ".join(reason.split())
    if case.get("status") == "notrun":
        return "skipped", "disabled"
    return "passed", ""


def count(testlogs, labels):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for label in labels:
        for path in xml_files(testlogs, label):
            try:
                cases = list(ElementTree.parse(path).iter("testcase"))
            except ElementTree.ParseError as error:
                print(f"FAILED  {label}: unreadable {path}: {error}")
                counts["failed"] += 1
                continue
            for case in cases:
                kind, reason = outcome(case)
                counts[kind] += 1
                name = f"{label} {case.get('classname', '')}.{case.get('name', '')}"
                if kind == "failed":
                    print(f"FAILED  {name}")
                elif kind == "skipped":
                    print(f"SKIPPED {name}: {reason or 'no reason given'}")
    return counts


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    counts = count(arguments[1], arguments[2:])
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**counts))
    return 1 if counts["failed"] > 0 or counts["passed"] == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
