#!/usr/bin/env python3
"""Trains the same networks with Shardmill and with PyTorch, in turns, on the same threads.

usage: train_compare.py [--python INTERPRETER ...] [--cases NAME ...]

Images per second are those of the fastest step, which other work on the machine disturbs least.
Shardmill's are of shardmill-train itself, reading its shards; PyTorch's batch lies in memory. The
last column is the sum of the oneDNN kernels of a step, each timed alone, as a share of the step.
See README.md in this folder.
"""
import argparse
import json
import os
import re
import struct
import subprocess
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
# name: model, width, batch, height, width of the images
CASES = {
    "unet8": ("unet", 8, 4, 352, 480),
    "unet16": ("unet", 16, 4, 352, 480),
    "unet16-half": ("unet", 16, 8, 176, 240),
    "resnet18": ("resnet18", 64, 16, 224, 224),
}


def parse_arguments():
    binaries = os.path.join(HERE, "../../../bazel-bin")
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--python", nargs="+", default=["/usr/bin/python3"],
                        help="interpreters with PyTorch")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--ways", nargs="+", default=["channels_last", "contiguous", "compiled"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--binaries", default=os.path.normpath(binaries))
    return parser.parse_args()


def run(words, **options):
    return subprocess.run(words, check=True, capture_output=True, text=True, **options).stdout


def write_png(path, height, width, seed):
    """Noise in RGB: what the pixels are does not matter here."""
    row = bytes((i * (seed + 7) * 2654435761 >> 11) & 255 for i in range(3 * width))
    rows = b"".join(b"\0" + row[y % 97 :] + row[: y % 97] for y in range(height))

    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data
                + struct.pack(">I", zlib.crc32(kind + data)))

    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n"
                   + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))


def pack(arguments, folder, case):
    model, _, batch, height, width = CASES[case]
    source, shards = os.path.join(folder, case), os.path.join(folder, case + "-shards")
    program = os.path.join(arguments.binaries, "tools/shardmill")
    if model == "unet":
        run([program, "sample", "-o", source, "--count", str(4 * batch), "--height", str(height),
             "--width", str(width)])
    else:
        for number in range(12):
            os.makedirs(f"{source}/class{number}")
            for image in range(4):
                write_png(f"{source}/class{number}/{image}.png", height, width, 4 * number + image)
    run([program, "pack", source, "-o", shards, "--quiet"])
    return shards


def train(arguments, folder, case, shards):
    """Milliseconds of the steps of shardmill-train."""
    model, width, batch, _, _ = CASES[case]
    output = os.path.join(folder, case + "-run")
    run([os.path.join(arguments.binaries, "trainer/shardmill-train"), shards, "--model", model,
         "--width", str(width), "--batch", str(batch), "--optimizer", "adam", "--output", output,
         "--eval-every", "0", "--limit-steps", str(arguments.steps + 2), "--threads",
         str(arguments.threads), "--device", "cpu", "--quiet"])
    with open(os.path.join(output, "log.jsonl")) as log:
        lines = [json.loads(line) for line in log]
    return [line["total_ms"] for line in lines if line["kind"] == "step"][2:]


def kernel_share(arguments, case):
    model, width, batch, height, image_width = CASES[case]
    text = run([os.path.join(arguments.binaries, "tests/bench/train_step_bench"), model, str(width),
                f"{batch}x{height}x{image_width}", str(arguments.steps)],
               env=dict(os.environ, OMP_NUM_THREADS=str(arguments.threads)))
    return int(re.search(r"fastest step reaches (\d+) %", text).group(1))


def torch_times(arguments, python, case):
    model, width, batch, height, image_width = CASES[case]
    lines = run([python, "-W", "ignore", os.path.join(HERE, "train_torch.py"), "--model", model,
                 "--width", str(width), "--batch", str(batch), "--size", f"{height}x{image_width}",
                 "--threads", str(arguments.threads), "--steps", str(arguments.steps), "--ways",
                 *arguments.ways])
    return [json.loads(line) for line in lines.split("\n") if line]


def main():
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        for case in arguments.cases:
            shards = pack(arguments, folder, case)
            ours = min(train(arguments, folder, case, shards))
            batch = CASES[case][2]
            print(f"{case}: Shardmill {1e3 * batch / ours:.2f} images/s, "
                  f"{kernel_share(arguments, case)} % of the oneDNN kernels alone", flush=True)
            for python in arguments.python:
                for result in torch_times(arguments, python, case):
                    theirs = min(result["ms"])
                    print(f"  PyTorch {result['torch']:16} {result['way']:14} "
                          f"{1e3 * batch / theirs:7.2f} images/s; Shardmill is "
                          f"{theirs / ours:.2f} x as fast", flush=True)


if __name__ == "__main__":
    main()
