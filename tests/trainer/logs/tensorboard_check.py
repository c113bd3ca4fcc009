#!/usr/bin/env python3
"""Reads the TensorBoard log of a run with the real TensorBoard and compares it with log.jsonl.

usage: tensorboard_check.py RUN

Needs TensorBoard (pip install tensorboard); without it the check is skipped and says so. Every
step and evaluation of log.jsonl must stand in the TensorBoard log once, with the same numbers, and
pictures must be PNG files of the size that the log says. Prints what was read; exits 1 when
something differs.
"""
import json
import math
import os
import struct
import sys


def read_log(path):
    """Returns {step: line} of the steps and of the evaluations."""
    steps, evaluations = {}, {}
    with open(path, encoding="utf-8") as file:
        for text in file:
            line = json.loads(text)
            if line["kind"] == "step":
                steps[line["step"]] = line
            elif line["kind"] == "evaluation":
                evaluations[line["step"]] = line
    return steps, evaluations


def check_scalar(events, tag, expected, failures):
    """`expected` is {step: number}; the log holds each once, as a float of 32 bits."""
    found = [(event.step, event.value) for event in events.Scalars(tag)]
    if [step for step, _ in found] != sorted(expected):
        failures.append("%s: steps %s, expected %s" % (tag, found, sorted(expected)))
        return
    for step, value in found:
        if not math.isclose(value, expected[step], rel_tol=1e-6, abs_tol=1e-30):
            failures.append("%s, step %d: %r, expected %r" % (tag, step, value, expected[step]))


def check_pictures(events, evaluations, failures):
    tags = events.Tags()["images"]
    for tag in tags:
        pictures = events.Images(tag)
        if [picture.step for picture in pictures] != sorted(evaluations):
            failures.append("%s: not one picture per evaluation" % tag)
        for picture in pictures:
            data = picture.encoded_image_string
            size = struct.unpack(">II", data[16:24])
            if data[:8] != b"\x89PNG\r\n\x1a\n" or size != (picture.width, picture.height):
                failures.append("%s, step %d: no PNG of that size" % (tag, picture.step))
    return len(tags)


def check_histograms(events, evaluations, failures):
    for event in events.Histograms("val/class_iou"):
        histogram = event.histogram_value
        ious = [entry["iou"] for entry in evaluations[event.step]["class_iou"]
                if entry["iou"] is not None]
        if (histogram.num != len(ious) or sum(histogram.bucket) != len(ious)
                or not math.isclose(histogram.sum, sum(ious), rel_tol=1e-9)):
            failures.append("val/class_iou, step %d differs" % event.step)


def main():
    try:
        from tensorboard.backend.event_processing import event_accumulator
    except ImportError:
        print("skipped: TensorBoard is not installed (pip install tensorboard)")
        return 0
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    events = event_accumulator.EventAccumulator(
        sys.argv[1], size_guidance={"scalars": 0, "images": 0, "histograms": 0})
    events.Reload()
    steps, evaluations = read_log(os.path.join(sys.argv[1], "log.jsonl"))
    failures = []
    for tag, key in (("train/loss", "loss"), ("train/learning_rate", "lr"),
                     ("train/gradient_norm", "grad_norm"),
                     ("time/waiting_share", "waiting_share")):
        check_scalar(events, tag, {step: line[key] for step, line in steps.items()}, failures)
    pictures = 0
    if evaluations:
        check_scalar(events, "val/loss", {s: e["loss"] for s, e in evaluations.items()}, failures)
        check_scalar(events, "val/miou", {s: e["miou"] for s, e in evaluations.items()}, failures)
        pictures = check_pictures(events, evaluations, failures)
        check_histograms(events, evaluations, failures)
    for failure in failures:
        print("different: " + failure)
    print("%d steps, %d evaluations, %d scalars, pictures of %d records: %s" %
          (len(steps), len(evaluations), len(events.Tags()["scalars"]), pictures,
           "DIFFERENT" if failures else "the same"))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
