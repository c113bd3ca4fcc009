"""A PyTorch module of any model that `shardmill-train model NAME` prints.

Its modules are named after the layers ("a/b" is module b in module a), so that it loads what
`shardmill-train export` writes.
"""
import re

import torch
from torch import nn
from torch.nn import functional


def parse(text):
    """The text format of protobuf as nested lists of (field, value)."""
    tokens = re.findall(r'"[^"]*"|[\w.+-]+|[{}\[\]:,]', re.sub(r"#.*", "", text))
    position = 0

    def scalar(token):
        if token.startswith('"'):
            return token[1:-1]
        if token in ("true", "false"):
            return token == "true"
        return float(token) if re.fullmatch(r"[+-]?[\d.]+(e[+-]?\d+)?", token) else token

    def fields():
        nonlocal position
        found = []
        while position < len(tokens) and tokens[position] != "}":
            name = tokens[position]
            position += 1
            if tokens[position] == ":":
                position += 1
            if tokens[position] == "{":
                position += 1
                found.append((name, dict_of(fields())))
                position += 1
            elif tokens[position] == "[":
                end = tokens.index("]", position)
                values = [scalar(t) for t in tokens[position + 1 : end] if t != ","]
                found.extend((name, value) for value in values)
                position = end + 1
            else:
                found.append((name, scalar(tokens[position])))
                position += 1
        return found

    def dict_of(pairs):
        """Repeated fields become lists."""
        merged = {}
        for name, value in pairs:
            merged.setdefault(name, []).append(value)
        return merged

    return dict_of(fields())


def one(fields, name, otherwise):
    return fields.get(name, [otherwise])[0]


class Window:
    def __init__(self, fields):
        def both(name, otherwise):
            values = [int(v) for v in fields.get(name, [otherwise])]
            return tuple(values * 2 if len(values) == 1 else values)

        self.kernel = both("kernel", 1)
        self.stride = both("stride", 1)
        self.dilation = both("dilation", 1)
        pad = both("pad", 0)
        self.top, self.left, self.bottom, self.right = pad if len(pad) == 4 else pad * 2

    def pad(self, x, value=0.0):
        return functional.pad(x, (self.left, self.right, self.top, self.bottom), value=value)

    def crop(self, x):
        return x[:, :, self.top : x.shape[2] - self.bottom, self.left : x.shape[3] - self.right]


def fit(x, like, channels=None):
    """Crops or pads x at the bottom and the right, and with channels of zeros."""
    x = x[:, :, : like.shape[2], : like.shape[3]]
    more = 0 if channels is None else channels - x.shape[1]
    return functional.pad(
        x, (0, like.shape[3] - x.shape[3], 0, like.shape[2] - x.shape[2], 0, more))


def activate(fields, x):
    kind = one(fields, "activation", "NONE")
    return {"NONE": lambda v: v, "RELU": functional.relu, "RELU6": functional.relu6}[kind](x)


class DescribedNetwork(nn.Module):
    def __init__(self, text, channels, classes):
        super().__init__()
        self.steps = []  # (name, kind, fields, inputs)
        widths = {"images": channels}
        before = "images"
        for layer in parse(text)["layers"]:
            name = layer["name"][0]
            inputs = layer.get("inputs", [before])
            kind = next(key for key in layer if key not in ("name", "inputs"))
            fields = layer[kind][0]
            width = widths[inputs[0]]
            module, width = self.module_of(kind, fields, width, classes)
            if kind == "concat":
                width = sum(widths[i] for i in inputs)
            if kind == "statistics_pool":
                width *= 2
            if module is not None:
                self.place(name, module)
            self.steps.append((name, kind, fields, inputs))
            widths[name] = width
            before = name

    def place(self, name, module):
        *folders, last = name.split("/")
        at = self
        for folder in folders:
            if folder not in at._modules:
                at.add_module(folder, nn.Module())
            at = at._modules[folder]
        at.add_module(last, module)

    @staticmethod
    def module_of(kind, fields, width, classes):
        if kind in ("convolution", "transposed_convolution", "linear"):
            window = Window(fields)
            out = classes if one(fields, "classes", False) else int(fields["channels"][0])
            bias = kind == "linear" or one(fields, "bias", False)
            groups = int(one(fields, "groups", 1)) or 1
            made = nn.ConvTranspose2d if kind.startswith("transposed") else nn.Conv2d
            return made(width, out, window.kernel, window.stride, dilation=window.dilation,
                        groups=groups, bias=bias), out
        if kind == "batch_norm":
            return nn.BatchNorm2d(width), width
        return (nn.PReLU(width), width) if kind == "prelu" else (None, width)

    def forward(self, images):
        values, indices = {"images": images}, {}
        for name, kind, fields, inputs in self.steps:
            x = [values[i] for i in inputs]
            values[name] = self.run(name, kind, fields, x, images, indices)
        return values[self.steps[-1][0]]

    def run(self, name, kind, fields, x, images, indices):
        window = Window(fields)
        pool = (window.kernel, window.stride)
        if kind in ("convolution", "linear"):
            return self.get_submodule(name.replace("/", "."))(window.pad(x[0]))
        if kind == "transposed_convolution":
            return window.crop(self.get_submodule(name.replace("/", "."))(x[0]))
        if kind == "batch_norm":
            return activate(fields, self.get_submodule(name.replace("/", "."))(x[0]))
        if kind == "prelu":
            return self.get_submodule(name.replace("/", "."))(x[0])
        if kind == "max_pool":
            y, indices[name] = functional.max_pool2d(
                window.pad(x[0], -torch.inf), *pool, return_indices=True)
            indices[name] = (indices[name], x[0].shape[2:])
            return y
        if kind == "max_unpool":
            places, size = indices[fields["indices_of"][0]]
            source = next(f for n, _, f, _ in self.steps if n == fields["indices_of"][0])
            before = Window(source)
            return functional.max_unpool2d(x[0], places, before.kernel, before.stride, 0, size)
        if kind == "average_pool":
            return functional.avg_pool2d(
                x[0], *pool, (window.top, window.left), count_include_pad=False)
        if kind == "global_average_pool":
            return x[0].mean((2, 3), keepdim=True)
        if kind == "statistics_pool":
            deviation = (x[0].var(3, unbiased=False, keepdim=True) + 1e-8).sqrt()
            return torch.cat([x[0].mean(3, keepdim=True), deviation], 1)
        if kind == "upsample":
            nearest = one(fields, "nearest", False)
            options = {} if nearest else {"align_corners": False}
            return functional.interpolate(
                x[0], scale_factor=int(one(fields, "factor", 2)),
                mode="nearest" if nearest else "bilinear", **options)
        if kind == "concat":
            return torch.cat([fit(part, x[0]) for part in x], 1)
        if kind == "add":
            return activate(fields, sum(fit(part, x[0], x[0].shape[1]) for part in x))
        if kind == "relu":
            return (functional.relu6 if one(fields, "six", False) else functional.relu)(x[0])
        if kind == "crop_to_images":
            return x[0][:, :, : images.shape[2], : images.shape[3]]
        assert kind == "dropout" and not self.training, kind
        return x[0]
