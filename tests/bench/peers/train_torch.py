#!/usr/bin/env python3
"""Times training steps of PyTorch: forward, loss, backward, Adam, on one batch in memory.

usage: train_torch.py --model unet|resnet18 --width N --batch N --size HEIGHTxWIDTH
                      [--device cuda] [--bf16]

Prints a JSON line per way of running: {"torch": version, "way": name, "ms": [times of steps],
"images_per_s": number}. The models are those of tests/trainer/torch/networks.py, with the same
layers as Shardmill's. On a GPU nothing waits between the steps, and "ms" is one mean.
"""
import argparse
import json
import os
import sys
import time

import torch
from torch.nn import functional

# In the folder that gpu_check.sh collects, networks.py lies beside this file.
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../trainer/torch"))
from networks import ResNet18, UNet  # noqa: E402

CLASSES = 12


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--model", choices=["unet", "resnet18"], required=True)
    parser.add_argument("--width", type=int, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--size", required=True)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--ways", nargs="+", default=["channels_last", "contiguous", "compiled"])
    return parser.parse_args()


def make_step(arguments, way):
    torch.manual_seed(1)
    made = UNet if arguments.model == "unet" else ResNet18
    height, width = (int(v) for v in arguments.size.split("x"))
    device = arguments.device
    network = made(CLASSES, arguments.width).train().to(device)
    images = torch.randn(arguments.batch, 3, height, width, device=device)
    shape = (height, width) if arguments.model == "unet" else (1, 1)
    labels = torch.randint(0, CLASSES, (arguments.batch, *shape), device=device)
    if way != "contiguous":
        network = network.to(memory_format=torch.channels_last)
        images = images.contiguous(memory_format=torch.channels_last)
    fused = {"fused": True} if device == "cuda" else {}
    optimizer = torch.optim.Adam(network.parameters(), 1e-3, **fused)
    run = torch.compile(network) if way == "compiled" else network

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, torch.bfloat16, enabled=arguments.bf16):
            loss = functional.cross_entropy(run(images), labels, ignore_index=CLASSES - 1)
        loss.backward()
        optimizer.step()
        return loss

    return step


def time_steps(step, arguments):
    """Milliseconds of steps: of each, or on a GPU the mean."""
    if arguments.device == "cuda":
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(arguments.steps):
            step()
        torch.cuda.synchronize()
        return [1e3 * (time.perf_counter() - start) / arguments.steps]
    times = []
    for _ in range(arguments.steps):
        start = time.perf_counter()
        step().item()
        times.append(1e3 * (time.perf_counter() - start))
    return times


def main():
    arguments = parse_arguments()
    torch.set_num_threads(arguments.threads)
    torch.set_flush_denormal(True)
    for way in arguments.ways:
        if way == "compiled" and not hasattr(torch, "compile"):
            continue
        step = make_step(arguments, way)
        for _ in range(2 if arguments.device == "cpu" else 5):
            step().item()
        times = time_steps(step, arguments)
        rate = 1e3 * arguments.batch * len(times) / sum(times)
        line = {"torch": torch.__version__, "way": way, "ms": times, "images_per_s": rate}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
