#!/usr/bin/env python3
"""Writes what PyTorch computes for the cases that //tests/trainer/torch:golden_test compares.

usage: write_golden.py FOLDER [SEED]

The files in tests/trainer/torch/golden are made with seed 1. All is computed in double precision
from inputs that f32 holds exactly, so another version of PyTorch gives the same files but for
the last bit.
"""
import os
import sys

import torch

import safetensors_file
from golden_layers import layer_cases
from golden_training import loss_cases, network_cases, optimizer_cases, schedule_cases


def write(folder, seed):
    torch.set_num_threads(1)
    os.makedirs(folder, exist_ok=True)
    for number, (name, make) in enumerate({
        "layers": layer_cases,
        "losses": loss_cases,
        "optimizers": optimizer_cases,
        "schedules": lambda generator: schedule_cases(),
        "networks": network_cases,
    }.items()):
        generator = torch.Generator().manual_seed(1000 * seed + number)
        arrays, metadata = make(generator)
        safetensors_file.write(os.path.join(folder, f"{name}.safetensors"), arrays, metadata)


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1)
