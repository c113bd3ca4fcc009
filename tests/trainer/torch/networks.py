"""U-Net and ResNet-18 in PyTorch, with the module names that `shardmill-train export` writes."""
import torch
from torch import nn
from torch.nn import functional


def convolution(inputs, outputs, kernel=3, stride=1):
    return nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)


class DoubleConvolution(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.convolution1 = convolution(inputs, outputs)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.convolution2 = convolution(outputs, outputs)
        self.norm2 = nn.BatchNorm2d(outputs)

    def forward(self, x):
        x = functional.relu(self.norm1(self.convolution1(x)))
        return functional.relu(self.norm2(self.convolution2(x)))


class UpStep(DoubleConvolution):
    def __init__(self, channels):
        super().__init__(2 * channels, channels)
        self.upsample = nn.ConvTranspose2d(2 * channels, channels, 2, 2, bias=False)

    def forward(self, x, skip):
        x = self.upsample(x)
        missing = (0, skip.shape[3] - x.shape[3], 0, skip.shape[2] - x.shape[2])
        return super().forward(torch.cat([skip, functional.pad(x, missing)], 1))


class UNet(nn.Module):
    def __init__(self, classes, width, depth=4, channels=3):
        super().__init__()
        self.depth = depth
        for level in range(depth):
            inputs = channels if level == 0 else width << (level - 1)
            self.add_module(f"down{level + 1}", DoubleConvolution(inputs, width << level))
        self.bottom = DoubleConvolution(width << (depth - 1), width << depth)
        for level in range(depth):
            self.add_module(f"up{level + 1}", UpStep(width << level))
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        skips = []
        for level in range(self.depth):
            skips.append(getattr(self, f"down{level + 1}")(x))
            x = functional.max_pool2d(skips[-1], 2)
        x = self.bottom(x)
        for level in reversed(range(self.depth)):
            x = getattr(self, f"up{level + 1}")(x, skips[level])
        return self.head(x)


class NormalizedConvolution(nn.Module):
    def __init__(self, inputs, outputs, kernel, stride):
        super().__init__()
        self.convolution = convolution(inputs, outputs, kernel, stride)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x):
        return self.norm(self.convolution(x))


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.add_module("1", NormalizedConvolution(inputs, outputs, 3, stride))
        self.add_module("2", NormalizedConvolution(outputs, outputs, 3, 1))
        self.shortcut = None
        if inputs != outputs or stride != 1:
            self.shortcut = NormalizedConvolution(inputs, outputs, 1, stride)

    def forward(self, x):
        y = functional.relu(getattr(self, "1")(x))
        y = getattr(self, "2")(y)
        return functional.relu(y + (x if self.shortcut is None else self.shortcut(x)))


class Stage(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.block1 = BasicBlock(inputs, outputs, stride)
        self.block2 = BasicBlock(outputs, outputs, 1)

    def forward(self, x):
        return self.block2(self.block1(x))


class ResNet18(nn.Module):
    def __init__(self, classes, width=64, channels=3):
        super().__init__()
        self.first = NormalizedConvolution(channels, width, 7, 2)
        self.stage1 = Stage(width, width, 1)
        self.stage2 = Stage(width, 2 * width, 2)
        self.stage3 = Stage(2 * width, 4 * width, 2)
        self.stage4 = Stage(4 * width, 8 * width, 2)
        self.head = nn.Conv2d(8 * width, classes, 1)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.first(x)), 3, 2, 1)
        x = self.stage4(self.stage3(self.stage2(self.stage1(x))))
        return self.head(x.mean((2, 3), keepdim=True))
