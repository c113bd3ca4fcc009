"""Losses, optimizers, learning rates and the training of whole networks, computed by PyTorch.

The parts of a case stand in the metadata as JSON, its tensors under its name.
"""
import json

import torch
from torch import nn
from torch.nn import functional

from described_network import DescribedNetwork
from golden_layers import kernel_to_ours, nhwc
from networks import UNet

CLASSES = 5
IGNORE = 255
# What the images of networks are normalised with, per channel.
MEAN = torch.tensor([120.0, 130.0, 125.0]).double()[:, None, None]
DEVIATION = torch.tensor([70.0, 60.0, 65.0]).double()[:, None, None]

# Residuals, pooling and its undoing, strides, dilation, groups, slopes, upsampling.
DESCRIBED = """
layers { name: "halve/convolution" convolution { channels: 4 kernel: 3 stride: 2 pad: 1 } }
layers { name: "halve/norm" batch_norm { activation: RELU } }
layers { name: "pool" max_pool { kernel: 2 stride: 2 } }
layers { name: "wide" convolution { channels: 4 kernel: 3 pad: 2 dilation: 2 groups: 2 bias: true } }
layers { name: "wide/slopes" prelu { } }
layers { name: "unpool" max_unpool { indices_of: "pool" } }
layers { name: "sum" inputs: ["unpool", "halve/norm"] add { activation: RELU } }
layers { name: "double" upsample { factor: 2 } }
layers { name: "cut" crop_to_images { } }
layers { name: "head" convolution { classes: true bias: true } }
"""


class Batch:
    """Logits and labels of two small images."""

    def __init__(self, generator):
        self.logits = (3 * torch.randn(2, CLASSES, 4, 3, generator=generator)).double()
        self.labels = torch.randint(0, CLASSES, (2, 4, 3), generator=generator)
        self.labels[:, ::2, 1] = IGNORE
        self.weights = (torch.rand(CLASSES, generator=generator) + 0.5).double()
        shares = torch.rand(2, CLASSES, 4, 3, generator=generator)
        self.soft = (shares / shares.sum(1, keepdim=True)).double()


def dice(logits, labels):
    """The Dice loss of trainer/ops/op_table.h for class ids, a mean weighted by labelled pixels."""
    counts = (labels != IGNORE)[:, None].double()
    target = functional.one_hot(labels.clamp(max=CLASSES - 1), CLASSES).permute(0, 3, 1, 2) * counts
    probability = functional.softmax(logits, 1) * counts
    share = (2 * (probability * target).sum((2, 3)) + 1) / (
        probability.sum((2, 3)) + target.sum((2, 3)) + 1)
    pixels = counts.sum((1, 2, 3))
    return (pixels * (1 - share.mean(1))).sum() / pixels.sum()


def loss_cases(generator):
    arrays, metadata = {}, {}
    for name, options in {
        "plain": {},
        "weighted": {"weighted": True},
        "smoothed": {"smoothing": 0.1},
        "smoothed_weighted": {"smoothing": 0.2, "weighted": True},
        "soft": {"soft": True},
        "dice": {"dice": 1.5},
    }.items():
        batch = Batch(generator)
        soft, smoothing = options.get("soft", False), options.get("smoothing", 0.0)
        logits = batch.logits.requires_grad_()
        mean = functional.cross_entropy(
            logits, batch.soft if soft else batch.labels,
            batch.weights if options.get("weighted") else None,
            label_smoothing=smoothing, **({} if soft else {"ignore_index": IGNORE}))
        if "dice" in options:
            mean = mean + options["dice"] * dice(logits, batch.labels)
        mean.backward()
        metadata[name] = json.dumps(
            {"smoothing": smoothing, "dice": options.get("dice", 0.0), "soft": soft})
        arrays[f"{name}/logits"] = nhwc(logits).detach().numpy()
        arrays[f"{name}/labels"] = (
            nhwc(batch.soft).numpy() if soft else batch.labels.to(torch.uint8).numpy())
        if options.get("weighted"):
            arrays[f"{name}/class_weights"] = batch.weights.numpy()
        arrays[f"{name}/mean"] = mean.detach().numpy().reshape(1)
        arrays[f"{name}/dlogits"] = nhwc(logits.grad).numpy()
    return arrays, metadata


def optimizer_of(options, parameters):
    decay = options["weight_decay"]
    kind = options["kind"]
    if kind == "sgd":
        return torch.optim.SGD(parameters, options["lr"], momentum=options["momentum"],
                               nesterov=options["nesterov"], weight_decay=decay)
    if kind == "rmsprop":
        return torch.optim.RMSprop(parameters, options["lr"], alpha=0.9, weight_decay=decay)
    made = torch.optim.Adam if kind == "adam" else torch.optim.AdamW
    return made(parameters, options["lr"], betas=(0.8, 0.95), weight_decay=decay)


def optimizer_cases(generator):
    """`steps` updates; each row of `gradients` is one."""
    arrays, metadata = {}, {}
    for name, kind, momentum, nesterov, decay in [
        ("sgd", "sgd", 0, False, 0.01), ("momentum", "sgd", 0.9, False, 0.01),
        ("nesterov", "sgd", 0.9, True, 0.01), ("adam", "adam", 0, False, 0.05),
        ("adamw", "adamw", 0, False, 0.05), ("rmsprop", "rmsprop", 0, False, 0.01),
    ]:
        options = {"kind": kind, "lr": 0.02, "momentum": momentum, "nesterov": nesterov,
                   "weight_decay": decay}
        start = torch.randn(21, generator=generator).double()
        gradients = torch.randn(12, 21, generator=generator).double()
        parameter = nn.Parameter(start.clone())
        optimizer = optimizer_of(options, [parameter])
        after_one = None
        for gradient in gradients:
            parameter.grad = gradient.clone()
            optimizer.step()
            if after_one is None:
                after_one = parameter.detach().numpy().copy()
        metadata[name] = json.dumps(options)
        arrays[f"{name}/start"] = start.numpy()
        arrays[f"{name}/gradients"] = gradients.numpy()
        arrays[f"{name}/after_one"] = after_one
        arrays[f"{name}/end"] = parameter.detach().numpy()
    return arrays, metadata


def schedule_cases():
    arrays, metadata = {}, {}
    schedulers = torch.optim.lr_scheduler
    for name, options, make in [
        ("constant", {}, lambda o, n: schedulers.ConstantLR(o, 1.0)),
        ("poly", {"power": 0.9}, lambda o, n: schedulers.PolynomialLR(o, n, power=0.9)),
        ("step", {"step_steps": 3, "step_factor": 0.3}, lambda o, n: schedulers.StepLR(o, 3, 0.3)),
        ("cosine", {"final_rate": 0.01},
         lambda o, n: schedulers.CosineAnnealingLR(o, n, eta_min=0.01)),
    ]:
        for warmup in [0, 4]:
            optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], 0.5)
            total = 16
            if warmup:
                rising = schedulers.LinearLR(optimizer, 1 / (warmup + 1), 1.0, warmup)
                chain = schedulers.SequentialLR(
                    optimizer, [rising, make(optimizer, total - warmup)], [warmup])
            else:
                chain = make(optimizer, total)
            rates = []
            for _ in range(total):
                rates.append(optimizer.param_groups[0]["lr"])
                optimizer.step()
                chain.step()
            case = f"{name}_warmup" if warmup else name
            metadata[case] = json.dumps(
                {"kind": name, "warmup_steps": warmup, "base_rate": 0.5, **options})
            arrays[f"{case}/rates"] = torch.tensor(rates, dtype=torch.float64).numpy()
    return arrays, metadata


def our_weights(network):
    """(name, array in our layout) of all parameters and running statistics."""
    modules = dict(network.named_modules())
    roles = {"running_mean": "running_mean", "running_var": "running_variance"}
    for name, tensor in network.state_dict().items():
        path, role = name.rsplit(".", 1)
        module = modules[path]
        if role == "num_batches_tracked":
            continue
        if isinstance(module, nn.BatchNorm2d):
            role = roles.get(role, {"weight": "scale", "bias": "shift"}.get(role))
        elif isinstance(module, nn.PReLU):
            role = "slope"
        elif role == "weight":
            tensor = kernel_to_ours(tensor, module.groups, isinstance(module, nn.ConvTranspose2d))
        yield f"{path}/{role}".replace(".", "/"), tensor.detach().clone().numpy()


def parameter_groups(network, decay):
    kernels = [p for p in network.parameters() if p.dim() == 4]
    others = [p for p in network.parameters() if p.dim() != 4]
    return [{"params": kernels, "weight_decay": decay}, {"params": others, "weight_decay": 0}]


def network_cases(generator):
    arrays, metadata = {}, {}
    for name, network, size, options in [
        ("unet", UNet(CLASSES, 2, 2), (2, 13, 14),
         {"model": "unet", "width": 2, "depth": 2, "kind": "sgd", "lr": 0.1, "momentum": 0.9,
          "nesterov": False, "weight_decay": 1e-3, "steps": 10}),
        ("unet_adamw", UNet(CLASSES, 2, 1), (2, 8, 10),
         {"model": "unet", "width": 2, "depth": 1, "kind": "adamw", "lr": 0.01, "momentum": 0,
          "nesterov": False, "weight_decay": 1e-2, "steps": 3}),
        ("described", DescribedNetwork(DESCRIBED, 3, CLASSES), (2, 13, 14),
         {"text": DESCRIBED, "kind": "sgd", "lr": 0.05, "momentum": 0.9, "nesterov": True,
          "weight_decay": 1e-3, "steps": 10}),
    ]:
        with torch.no_grad():
            for parameter in network.parameters():
                scale = (2 / parameter[0].numel()) ** 0.5 if parameter.dim() == 4 else 0.2
                shift = 0.0 if parameter.dim() == 4 else 0.5
                noise = torch.randn(parameter.shape, generator=generator)
                parameter.copy_(scale * noise + shift)
        network = network.double().train()
        pixels = torch.randint(0, 256, (size[0], 3, *size[1:]), generator=generator).double()
        images = (pixels - MEAN) / DEVIATION
        labels = torch.randint(0, CLASSES, (size[0], *size[1:]), generator=generator)
        labels[:, :2] = IGNORE
        for weight, array in our_weights(network):
            arrays[f"{name}/start/{weight}"] = array
        optimizer = optimizer_of(options, parameter_groups(network, options["weight_decay"]))
        losses = []
        for step in range(options["steps"]):
            optimizer.zero_grad()
            logits = network(images)
            loss = functional.cross_entropy(logits, labels, ignore_index=IGNORE)
            loss.backward()
            if step == 0:
                arrays[f"{name}/logits"] = nhwc(logits).detach().numpy()
            losses.append(loss.item())
            optimizer.step()
        network.eval()
        arrays[f"{name}/end_logits"] = nhwc(network(images)).detach().numpy()
        for weight, array in our_weights(network):
            arrays[f"{name}/end/{weight}"] = array
        arrays[f"{name}/images"] = nhwc(pixels).to(torch.uint8).numpy()
        arrays[f"{name}/labels"] = labels.to(torch.uint8).numpy()
        arrays[f"{name}/losses"] = torch.tensor(losses, dtype=torch.float64).numpy()
        metadata[name] = json.dumps(options)
    return arrays, metadata
