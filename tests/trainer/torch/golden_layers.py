"""Single layers, forward and backward, computed by PyTorch in double precision.

A case is named after its layer; the metadata hold the layer in the text format of models
(proto/model.proto). Tensors are NHWC, kernels [out, height, width, in / groups]. Per case: inputs
x0, x1, …; parameters by role; dy, the gradient of the output y; the gradients dx0, …, and d<role>.
"""
import torch
from torch.nn import functional


def nhwc(tensor):
    return tensor.permute(0, 2, 3, 1) if tensor.dim() == 4 else tensor


def kernel_to_ours(kernel, groups=1, transposed=False):
    """From Conv2d's [out, in / groups, h, w] or ConvTranspose2d's [in, out / groups, h, w]."""
    if transposed:
        inputs, outputs, height, width = kernel.shape
        split = kernel.reshape(groups, inputs // groups, outputs, height, width)
        kernel = split.transpose(1, 2).reshape(groups * outputs, inputs // groups, height, width)
    return kernel.permute(0, 2, 3, 1)


class Cases:
    """Collects the tensors of all cases."""

    def __init__(self, generator):
        self.generator = generator
        self.arrays = {}
        self.metadata = {}

    def random(self, *shape):
        # Rounded to f32, so that both sides begin with the same numbers.
        return torch.randn(*shape, generator=self.generator).double()

    def store(self, case, name, tensor):
        self.arrays[f"{case}/{name}"] = tensor.detach().numpy()

    def add(self, case, layer, inputs, parameters, forward, kernels=None):
        """`forward` maps lists of inputs and of parameters to the output in NCHW."""
        self.metadata[case] = f'layers {{ name: "layer" {layer} }}'
        inputs = [x.requires_grad_() for x in inputs]
        parameters = {role: p.requires_grad_() for role, p in parameters.items()}
        y = forward(inputs, parameters)
        dy = self.random(*y.shape)
        (y * dy).sum().backward()
        turned = kernels or nhwc
        for i, x in enumerate(inputs):
            self.store(case, f"x{i}", nhwc(x))
            self.store(case, f"dx{i}", nhwc(x.grad))
        for role, parameter in parameters.items():
            turn = turned if role == "weight" else nhwc
            self.store(case, role, turn(parameter))
            self.store(case, f"d{role}", turn(parameter.grad))
        self.store(case, "y", nhwc(y))
        self.store(case, "dy", nhwc(dy))


# name, input NCHW, output channels, kernel, stride, pad, dilation, groups, bias, transposed
CONVOLUTIONS = [
    ("convolution", (2, 3, 5, 6), 4, 3, 1, 1, 1, 1, True, False),
    ("convolution_stride", (1, 3, 7, 8), 4, 3, 2, 1, 1, 1, False, False),
    ("convolution_dilation", (1, 2, 7, 8), 3, 3, 1, 2, 2, 1, True, False),
    ("convolution_groups", (1, 4, 5, 6), 6, 3, 1, 1, 1, 2, True, False),
    ("convolution_depthwise", (1, 8, 5, 4), 8, 3, 1, 1, 1, 8, False, False),
    ("convolution_uneven", (1, 3, 6, 7), 4, (1, 3), (2, 1), (0, 1), (1, 2), 1, True, False),
    ("convolution_1x1", (2, 5, 3, 4), 6, 1, 1, 0, 1, 1, True, False),
    ("convolution_7x7", (1, 2, 9, 10), 2, 7, 2, 3, 1, 1, False, False),
    ("transposed_doubling", (1, 4, 3, 4), 3, 2, 2, 0, 1, 1, False, True),
    ("transposed_overlapping", (1, 3, 3, 4), 2, 4, 2, 1, 1, 1, True, True),
    ("transposed_groups", (2, 4, 3, 3), 6, 3, 2, 1, 1, 2, True, True),
    ("transposed_dilation", (1, 2, 4, 5), 3, 3, 1, 2, 2, 1, False, True),
]


def pair(value):
    return value if isinstance(value, tuple) else (value, value)


def window_text(kernel, stride, pad, dilation=1):
    fields = {"kernel": kernel, "stride": stride, "pad": pad, "dilation": dilation}
    return " ".join(f"{name}: {list(pair(value))}" for name, value in fields.items())


def add_convolutions(cases):
    for name, shape, out, kernel, stride, pad, dilation, groups, bias, transposed in CONVOLUTIONS:
        ends = (shape[1], out) if transposed else (out, shape[1])
        parameters = {"weight": cases.random(ends[0], ends[1] // groups, *pair(kernel))}
        if bias:
            parameters["bias"] = cases.random(out)

        def forward(x, p):
            if transposed:
                return functional.conv_transpose2d(
                    x[0], p["weight"], p.get("bias"), stride, pad, 0, groups, dilation)
            return functional.conv2d(
                x[0], p["weight"], p.get("bias"), stride, pad, dilation, groups)

        cases.add(
            name,
            f"{'transposed_' if transposed else ''}convolution {{ channels: {out} "
            f"{window_text(kernel, stride, pad, dilation)} groups: {groups} "
            f"bias: {str(bias).lower()} }}",
            [cases.random(*shape)], parameters, forward,
            lambda kernel: kernel_to_ours(kernel, groups, transposed))


def add_batch_norms(cases):
    for name, activation, shape in [
        ("batch_norm", "NONE", (2, 5, 3, 4)),
        ("batch_norm_relu", "RELU", (3, 4, 4, 3)),
        ("batch_norm_relu6", "RELU6", (2, 3, 4, 5)),
        ("evaluation_batch_norm_relu", "RELU", (2, 3, 4, 4)),
    ]:
        training = not name.startswith("evaluation")
        mean, variance = cases.random(shape[1]), cases.random(shape[1]) ** 2 + 0.5
        # Stored before PyTorch changes them; the file holds f32.
        mean, variance = mean.float().double(), variance.float().double()
        cases.store(name, "running_mean", mean.clone())
        cases.store(name, "running_variance", variance.clone())
        scales = {"NONE": 1, "RELU": 1, "RELU6": 8}

        def forward(x, p):
            y = functional.batch_norm(
                x[0], mean, variance, p["scale"], p["shift"], training, 0.1, 1e-5)
            return {"NONE": lambda v: v, "RELU": functional.relu,
                    "RELU6": functional.relu6}[activation](y)

        parameters = {"scale": scales[activation] * cases.random(shape[1]),
                      "shift": cases.random(shape[1])}
        cases.add(name, f"batch_norm {{ activation: {activation} }}",
                  [(2 * cases.random(*shape) + 1).float().double()], parameters, forward)
        cases.store(name, "after_running_mean", mean)
        cases.store(name, "after_running_variance", variance)


def add_pools(cases):
    for name, shape, kernel, stride, pad in [
        ("max_pool", (2, 3, 6, 5), 2, 2, 0),
        ("max_pool_overlapping", (1, 3, 8, 7), 3, 2, 1),
        ("max_pool_uneven", (1, 2, 6, 7), (3, 1), (2, 1), (1, 0)),
    ]:
        cases.add(name, f"max_pool {{ {window_text(kernel, stride, pad)} }}",
                  [cases.random(*shape)], {},
                  lambda x, p: functional.max_pool2d(x[0], kernel, stride, pad))
    for name, shape, kernel, stride, pad in [
        ("average_pool", (2, 3, 6, 4), 2, 2, 0),
        ("average_pool_padded", (1, 2, 7, 6), 3, 2, 1),
    ]:
        cases.add(name, f"average_pool {{ {window_text(kernel, stride, pad)} }}",
                  [cases.random(*shape)], {},
                  lambda x, p: functional.avg_pool2d(
                      x[0], kernel, stride, pad, count_include_pad=False))
    cases.add("global_average_pool", "global_average_pool { }", [cases.random(2, 5, 3, 4)], {},
              lambda x, p: functional.adaptive_avg_pool2d(x[0], 1))

    def statistics(x, p):
        deviation = (x[0].var(3, unbiased=False, keepdim=True) + 1e-8).sqrt()
        return torch.cat([x[0].mean(3, keepdim=True), deviation], 1)

    cases.add("statistics_pool", "statistics_pool { }", [cases.random(2, 4, 1, 9)], {}, statistics)


def add_upsampling(cases):
    for name, factor, mode in [
        ("bilinear_2", 2, "bilinear"), ("bilinear_3", 3, "bilinear"), ("bilinear_4", 4, "bilinear"),
        ("nearest_2", 2, "nearest"), ("nearest_3", 3, "nearest"),
    ]:
        options = {} if mode == "nearest" else {"align_corners": False}
        cases.add(name, f"upsample {{ factor: {factor} nearest: {str(mode == 'nearest').lower()} }}",
                  [cases.random(1, 2, 3, 4)], {},
                  lambda x, p: functional.interpolate(
                      x[0], scale_factor=factor, mode=mode, **options))


def add_elementwise(cases):
    cases.add("relu", "relu { }", [cases.random(2, 3, 4, 3)], {},
              lambda x, p: functional.relu(x[0]))
    cases.add("relu6", "relu { six: true }", [6 * cases.random(2, 3, 4, 3)], {},
              lambda x, p: functional.relu6(x[0]))
    cases.add("prelu", "prelu { }", [cases.random(2, 5, 4, 3)], {"slope": cases.random(5)},
              lambda x, p: functional.prelu(x[0], p["slope"]))
    cases.add("add_relu", "add { activation: RELU }",
              [cases.random(2, 3, 4, 3), cases.random(2, 3, 4, 3)], {},
              lambda x, p: functional.relu(x[0] + x[1]))
    cases.add("concat_cropped", "concat { }", [cases.random(1, 3, 4, 3), cases.random(1, 2, 5, 3)],
              {}, lambda x, p: torch.cat([x[0], x[1][:, :, :4]], 1))
    cases.add("concat_padded", "concat { }", [cases.random(1, 2, 4, 5), cases.random(1, 3, 4, 4)],
              {}, lambda x, p: torch.cat([x[0], functional.pad(x[1], (0, 1))], 1))
    cases.add("linear", "linear { channels: 4 }", [cases.random(3, 7, 1, 1)],
              {"weight": cases.random(4, 7, 1, 1), "bias": cases.random(4)},
              lambda x, p: functional.linear(
                  x[0].flatten(1), p["weight"].flatten(1), p["bias"])[:, :, None, None])


def layer_cases(generator):
    cases = Cases(generator)
    for add in [add_convolutions, add_batch_norms, add_pools, add_upsampling, add_elementwise]:
        add(cases)
    return cases.arrays, cases.metadata
