#!/usr/bin/env python3
"""Packs and reads image and label pairs with FFCV and with Shardmill, in turns.

usage: ffcv_compare.py --ffcv FOLDER --shardmill PROGRAM SOURCE
See README.md in this folder for how FFCV is installed and what SOURCE looks like.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import cv2
import numpy

HEIGHT, WIDTH = 360, 480


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("source", metavar="SOURCE")
    parser.add_argument("--ffcv", required=True, help="folder of FFCV's source, with its extension")
    parser.add_argument("--shardmill", required=True, help="the program")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=6, help="of each way of reading")
    parser.add_argument("--write-rounds", type=int, default=2)
    parser.add_argument("--writing-only", action="store_true")
    return parser.parse_args()


class Pairs:
    """What FFCV's writer asks for: decoded pairs by number."""

    def __init__(self, source):
        self.source = source
        self.names = sorted(os.listdir(os.path.join(source, "train")))

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        name = self.names[index]
        image = cv2.imread(os.path.join(self.source, "train", name))
        label = cv2.imread(os.path.join(self.source, "trainannot", name), cv2.IMREAD_UNCHANGED)
        assert image.shape == (HEIGHT, WIDTH, 3) and label.shape == (HEIGHT, WIDTH), name
        return cv2.cvtColor(image, cv2.COLOR_BGR2RGB), label


def write_ffcv(pairs, path, workers):
    from ffcv.fields import NDArrayField, RGBImageField
    from ffcv.writer import DatasetWriter
    start = time.perf_counter()
    writer = DatasetWriter(path, {
        "image": RGBImageField(write_mode="raw"),
        "label": NDArrayField(numpy.dtype("uint8"), (HEIGHT, WIDTH)),
    }, num_workers=workers)
    writer.from_indexed_dataset(pairs)
    return len(pairs) / (time.perf_counter() - start)


def train_only(source, folder):
    """The same files as a set with the train split alone."""
    view = os.path.join(folder, "source")
    if not os.path.exists(view):
        os.mkdir(view)
        for name in ("train", "trainannot"):
            os.symlink(os.path.abspath(os.path.join(source, name)), os.path.join(view, name))
        with open(os.path.join(source, "train.txt"), encoding="utf-8") as lists:
            lines = lists.read()
        with open(os.path.join(view, "train.txt"), "w", encoding="utf-8") as lists:
            lists.write(lines)
    return view


def write_shardmill(program, source, output, workers, label_codec):
    shutil.rmtree(output, ignore_errors=True)
    start = time.perf_counter()
    subprocess.run([program, "pack", source, "-o", output, "--jobs", str(workers), "--crop-mode",
                    "none", "--label-codec", label_codec, "--quiet"], check=True,
                   stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    with open(os.path.join(output, "manifest.json"), encoding="utf-8") as manifest:
        splits = json.load(manifest)["splits"]
    return sum(int(split["records"]) for split in splits) / seconds


def read_ffcv(path, workers, order, os_cache, arguments):
    """Samples per second of the first epoch, compilation included, and of the best later one."""
    from ffcv.fields.decoders import NDArrayDecoder, SimpleRGBImageDecoder
    from ffcv.loader import Loader, OrderOption
    loader = Loader(path, batch_size=arguments.batch, num_workers=workers,
                    order=OrderOption[order], os_cache=os_cache, drop_last=True,
                    pipelines={"image": [SimpleRGBImageDecoder()], "label": [NDArrayDecoder()]})
    rates = []
    for _ in range(arguments.epochs):
        start = time.perf_counter()
        samples = sum(len(batch[0]) for batch in loader)
        rates.append(samples / (time.perf_counter() - start))
    return rates[0], max(rates[1:])


def read_shardmill(program, path, threads, arguments):
    result = subprocess.run([program, "bench", "read", path, "--split", "train", "--batch",
                             str(arguments.batch), "--threads", str(threads), "--rounds",
                             str(arguments.epochs), "--json", "-q"], check=True, capture_output=True)
    figures = [one for one in json.loads(result.stdout)["sets"] if one["threads"] == threads]
    loader = figures[0]["first_touch"]
    return (loader["first_epoch"]["samples_per_second"],
            loader["later_epoch"]["samples_per_second"])


def compare_writing(pairs, arguments, folder):
    print("writing, pairs/s, output on tmpfs (%d pairs of %d high x %d wide)" %
          (len(pairs), HEIGHT, WIDTH))
    view = train_only(arguments.source, folder)
    beton = os.path.join(folder, "set.beton")
    for workers in arguments.workers:
        best = {}
        for _ in range(arguments.write_rounds):
            rates = {"FFCV raw": write_ffcv(pairs, beton, workers)}
            for codec in ("zstd", "raw"):
                rates["Shardmill label " + codec] = write_shardmill(
                    arguments.shardmill, view, os.path.join(folder, codec), workers, codec)
            for name, rate in rates.items():
                best[name] = max(rate, best.get(name, 0))
        for name, rate in best.items():
            print("  %d workers  %-22s %8.0f  %.2f x FFCV" %
                  (workers, name, rate, rate / best["FFCV raw"]))
    return beton


def compare_reading(beton, arguments, folder):
    print("reading, samples/s: first epoch, best later epoch")
    best_first, best_later = 0, 0
    for order in ("RANDOM", "QUASI_RANDOM", "SEQUENTIAL"):
        for workers in arguments.workers:
            for os_cache in (True, False):
                if order == "QUASI_RANDOM" and os_cache:
                    continue  # FFCV has no such combination
                first, later = read_ffcv(beton, workers, order, os_cache, arguments)
                print("  FFCV %-12s %d workers os_cache=%-5s %8.0f %8.0f" %
                      (order, workers, os_cache, first, later), flush=True)
                best_first, best_later = max(best_first, first), max(best_later, later)
    for threads in arguments.workers:
        first, later = read_shardmill(arguments.shardmill, os.path.join(folder, "raw"), threads,
                                      arguments)
        print("  Shardmill random    %d threads first-touch    %8.0f %8.0f  %.1f x / %.2f x the best"
              " of FFCV" % (threads, first, later, first / best_first, later / best_later))


def main():
    arguments = parse_arguments()
    sys.path.insert(0, os.path.abspath(arguments.ffcv))
    arguments.shardmill = os.path.abspath(arguments.shardmill)
    pairs = Pairs(arguments.source)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        beton = compare_writing(pairs, arguments, folder)
        if not arguments.writing_only:
            compare_reading(beton, arguments, folder)


if __name__ == "__main__":
    main()
