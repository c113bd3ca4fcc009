#!/usr/bin/env python3
"""Runs the commands of a case file and compares what they print with what stands there.

usage: golden.py [--update] FILE.case PROGRAM...

A case file is a transcript:

    # a remark
    $ shardmill dump info nowhere
    ! shardmill dump: error: there is no nowhere
    exit 3

Each command runs in bash, in one folder that is empty at first, with the PROGRAMs in the PATH.
Lines of stdout stand as they are, lines of stderr behind "! ", and the exit status when it is
not 0. "{*}" stands for any part of a line. --update rewrites the file with what the commands
print now; look at the difference before you commit it.
"""
import difflib
import os
import re
import subprocess
import sys
import tempfile

TIMEOUT_S = 600


def read_case(path):
    """Returns [(kind, text, expected lines)]; kind is "#" for remarks and "$" for commands."""
    steps = []
    with open(path, encoding="utf-8") as file:
        for line in file.read().split("\n")[:-1]:
            if line.startswith("$ "):
                steps.append(("$", line[2:], []))
            elif line.startswith("#") or (not line and not steps):
                steps.append(("#", line, []))
            elif steps and steps[-1][0] == "$":
                steps[-1][2].append(line)
            else:
                sys.exit("%s: output without a command: %s" % (path, line))
    return steps


def environment(programs, folder):
    """The PATH has the programs under their own names; nothing else of the caller shines through."""
    bin_folder = os.path.join(folder, "bin")
    os.mkdir(bin_folder)
    for program in programs:
        os.symlink(os.path.abspath(program), os.path.join(bin_folder, os.path.basename(program)))
    kept = {name: value for name, value in os.environ.items()
            if name.endswith("SAN_OPTIONS") or name == "OMP_NUM_THREADS"}
    return dict(kept, PATH=bin_folder + ":/usr/bin:/bin", LC_ALL="C.UTF-8", TERM="dumb",
                HOME=folder)


def run(command, folder, env):
    """Returns the lines of the transcript after the command."""
    result = subprocess.run(["bash", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                            capture_output=True, timeout=TIMEOUT_S, check=False)
    lines = result.stdout.decode("utf-8", "backslashreplace").split("\n")
    errors = result.stderr.decode("utf-8", "backslashreplace").split("\n")
    transcript = lines[:-1] + ([lines[-1] + "{no line end}"] if lines[-1] else [])
    transcript += ["! " + line for line in errors[:-1]]
    if errors[-1]:
        transcript.append("! " + errors[-1] + "{no line end}")
    if result.returncode != 0:
        transcript.append("exit %d" % result.returncode)
    return transcript


def matches(expected, line):
    pattern = ".*".join(re.escape(part) for part in expected.split("{*}"))
    return re.fullmatch(pattern, line) is not None


def same(expected, actual):
    return len(expected) == len(actual) and all(map(matches, expected, actual))


def merged(expected, actual):
    """What --update writes: lines that still match keep their {*}."""
    if len(expected) != len(actual):
        return actual
    return [old if matches(old, new) else new for old, new in zip(expected, actual)]


def main(arguments):
    update = "--update" in arguments
    names = [argument for argument in arguments if argument != "--update"]
    if len(names) < 2:
        sys.exit(__doc__)
    path, programs = names[0], names[1:]
    rewritten, failed, commands = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        env = environment(programs, folder)
        work = os.path.join(folder, "work")
        os.mkdir(work)
        for kind, text, expected in read_case(path):
            rewritten.append(text if kind == "#" else "$ " + text)
            if kind == "#":
                continue
            commands += 1
            actual = run(text, work, env)
            rewritten += merged(expected, actual)
            if same(expected, actual):
                continue
            failed += 1
            print("$ " + text)
            print("\n".join(difflib.unified_diff(expected, actual, "expected", "printed",
                                                 lineterm="")))
    if update:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(rewritten) + "\n")
        return 0
    print("%s: %d commands, %d failed" % (os.path.basename(path), commands, failed))
    return 1 if failed or not commands else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
