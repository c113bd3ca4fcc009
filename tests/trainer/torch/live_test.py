"""PyTorch itself beside the program: the golden comparison on other numbers, and the export.

usage: live_test.py GOLDEN_TEST WRITE_TRAINED SHARDMILL_TRAIN
"""
import os
import subprocess
import sys
import tempfile
import unittest

import torch

import safetensors_file
import write_golden
from described_network import DescribedNetwork
from networks import ResNet18, UNet

CLASSES = 5
GOLDEN_TEST, WRITE_TRAINED, SHARDMILL_TRAIN = (os.path.abspath(p) for p in sys.argv[1:4])


class GoldenComparison(unittest.TestCase):
    def test_numbers_of_another_seed_agree(self):
        with tempfile.TemporaryDirectory() as folder:
            write_golden.write(folder, seed=2)
            environment = dict(os.environ, SHARDMILL_TORCH_GOLDEN=folder)
            environment.pop("XML_OUTPUT_FILE", None)  # it is ours
            result = subprocess.run([GOLDEN_TEST], env=environment, capture_output=True, text=True)
            self.assertEqual(result.returncode, 0, result.stdout[-3000:] + result.stderr)


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        lines = subprocess.run([WRITE_TRAINED, cls.folder.name], check=True, capture_output=True,
                               text=True).stdout.split("\n")
        cls.models = [line.split() for line in lines if line]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def export(self, name):
        """The weights and what they were normalised with, through the real program."""
        path = os.path.join(self.folder.name, name)
        subprocess.run([SHARDMILL_TRAIN, "export", f"{path}.ckpt", "--output", f"{path}.weights"],
                       check=True, capture_output=True)
        arrays, metadata = safetensors_file.read(f"{path}.weights")
        self.assertEqual(metadata["format"], "pt")
        scale = [[float(v) for v in metadata[key].split()]
                 for key in ("image_mean", "image_deviation")]
        return {key: torch.tensor(value) for key, value in arrays.items()}, scale

    def expect_same_logits(self, name, network):
        weights, scale = self.export(name)
        for key in network.state_dict():  # a counter that only PyTorch keeps
            if key.endswith("num_batches_tracked"):
                weights[key] = torch.tensor(0)
        network.load_state_dict(weights, strict=True)
        arrays, _ = safetensors_file.read(
            os.path.join(self.folder.name, f"{name}.logits.safetensors"))
        mean, deviation = (torch.tensor(v)[:, None, None] for v in scale)
        images = torch.tensor(arrays["images"]).permute(0, 3, 1, 2).float()
        with torch.no_grad():
            logits = network.eval()((images - mean) / deviation).permute(0, 2, 3, 1)
        expected = torch.tensor(arrays["logits"])
        self.assertEqual(logits.shape, expected.shape)
        self.assertGreater(expected.std().item(), 0.01)
        error = (logits - expected).abs().max().item() / expected.abs().max().item()
        self.assertLess(error, 2e-5, name)

    def test_written_models_load_strictly_and_give_the_same_logits(self):
        self.expect_same_logits("unet", UNet(CLASSES, 4, 3))
        self.expect_same_logits("resnet18", ResNet18(CLASSES, 4))

    def test_every_described_model_loads_strictly_and_gives_the_same_logits(self):
        self.assertEqual(len(self.models), 7)
        for name, width, depth in self.models:
            size = ["--width", width] + (["--depth", depth] if depth != "0" else [])
            text = subprocess.run([SHARDMILL_TRAIN, "model", name, *size], check=True,
                                  capture_output=True, text=True).stdout
            with self.subTest(name):
                self.expect_same_logits(name, DescribedNetwork(text, 3, CLASSES))


if __name__ == "__main__":
    print("PyTorch", torch.__version__)
    torch.set_num_threads(1)
    unittest.main(argv=sys.argv[:1])
