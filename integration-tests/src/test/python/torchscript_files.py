"""Writes the TorchScript modules of the tests: small, with seeded weights, each with a trait of its own.

Run by hand with PyTorch 1.13 (older files load in newer versions, not the other way round):

    python3 integration-tests/src/test/python/torchscript_files.py integration-tests/src/test/resources/torchscript
    python3 integration-tests/src/test/python/torchscript_files.py \\
        djl-memplan/src/main/resources/org/djlplan/cli rehearsal

TorchScriptModels.java lists the inputs of those of the tests.
"""

import io
import pathlib
import sys
import zipfile
from typing import Dict, List, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional

LARGEST_BYTES = 200_000


class Cnn(nn.Module):
    """Branches that are added and concatenated, with normalisation and pooling."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU())
        self.left = nn.Conv2d(16, 16, 3, padding=1)
        self.right = nn.Conv2d(16, 8, 1)
        self.depthwise = nn.Conv2d(16, 16, 3, padding=1, groups=16)
        self.head = nn.Linear(40, 10)

    def forward(self, x):
        x = self.stem(x)
        residual = functional.relu6(self.left(x) + x)
        wide = torch.cat([residual, self.right(x), self.depthwise(residual)], 1)
        wide = functional.max_pool2d(wide, 2)
        return torch.softmax(self.head(wide.mean([2, 3])), 1)


class Branch(nn.Module):
    """Which layers run depends on the sign of the input's sum."""

    def __init__(self):
        super().__init__()
        self.small = nn.Linear(16, 16)
        self.first = nn.Linear(16, 256)
        self.second = nn.Linear(256, 16)

    def forward(self, x):
        if bool(x.sum() > 0):
            y = self.second(torch.relu(self.first(x)))
        else:
            y = torch.tanh(self.small(x))
        return y + x


class Loop(nn.Module):
    """As many turns as the first element of the second input says."""

    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(32, 32)

    def forward(self, x, turns):
        for _ in range(int(turns[0])):
            x = torch.tanh(self.cell(x)) + x * 0.5
        return x


class Growing(nn.Module):
    """Each turn makes a larger tensor than the one before; how many, the input's largest value says."""

    def forward(self, x):
        parts: List[Tensor] = []
        turn = 0
        while turn < 2 + int(x.max() * 6):
            turn += 1
            parts.append(x.repeat(turn, 1) * float(turn))
        return torch.cat(parts, 0).sum(0)


class ManyInputs(nn.Module):
    """Three inputs of different shapes."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(12, 24)
        self.b = nn.Linear(20, 24)

    def forward(self, a, b, scale):
        return torch.relu(self.a(a) + self.b(b)) * scale


class TupleOutputs(nn.Module):
    """Three outputs, made one after the other."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 8, 3, stride=2)
        self.b = nn.Conv2d(8, 16, 3, stride=2)

    def forward(self, x) -> Tuple[Tensor, Tensor, Tensor]:
        a = torch.relu(self.a(x))
        b = torch.relu(self.b(a))
        return a, b, b.mean([2, 3])


class DictOutputs(nn.Module):
    """A dictionary of two tensors."""

    def __init__(self):
        super().__init__()
        self.boxes = nn.Linear(16, 32)
        self.scores = nn.Linear(16, 8)

    def forward(self, x) -> Dict[str, Tensor]:
        return {"boxes": self.boxes(x), "scores": torch.sigmoid(self.scores(x))}


class ListOutputs(nn.Module):
    """A list of four feature maps."""

    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv2d(4, 4, 3, padding=1) for _ in range(4)])

    def forward(self, x) -> List[Tensor]:
        outputs: List[Tensor] = []
        for conv in self.convs:
            x = functional.avg_pool2d(torch.relu(conv(x)), 2)
            outputs.append(x)
        return outputs


class Embedding(nn.Module):
    """Identifiers in, a vector per sentence out."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(100, 32)
        self.project = nn.Linear(32, 16)

    def forward(self, ids):
        return self.project(self.table(ids)).mean(1)


class Half(nn.Module):
    """16-bit floats where a processor has kernels for them; the first output is one of them."""

    def forward(self, x) -> Tuple[Tensor, Tensor]:
        half = x.to(torch.float16)
        half = torch.cat([half + half, half * half], 1)
        return half, half.to(torch.float32).sum(1)


class Bfloat16(nn.Module):
    """A network of bfloat16."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(32, 64).to(torch.bfloat16)
        self.second = nn.Linear(64, 8).to(torch.bfloat16)

    def forward(self, x):
        return self.second(torch.relu(self.first(x.to(torch.bfloat16)))).to(torch.float32)


class Bytes(nn.Module):
    """8-bit integers in and out, signed and unsigned."""

    def forward(self, a, b) -> Tuple[Tensor, Tensor, Tensor]:
        a = torch.maximum(a // 2 + 1, a.flip(1))
        b = (b * 3).clamp(-20, 90)
        return a, b, a.to(torch.int32).sum(1) * b.to(torch.int32).sum(1)


class ViewOutput(nn.Module):
    """The output is a view of part of an intermediate tensor."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, x):
        return torch.relu(self.conv(x)).transpose(2, 3)[:, 2:5]


class InputAsOutput(nn.Module):
    """The first output is the input itself, the last a view of it."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(24, 24)

    def forward(self, x) -> Tuple[Tensor, Tensor, Tensor]:
        return x, self.linear(x), x[:, :4]


class SameTwice(nn.Module):
    """The same tensor twice."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(24, 24)

    def forward(self, x) -> Tuple[Tensor, Tensor]:
        y = torch.relu(self.linear(x))
        return y, y


class InPlace(nn.Module):
    """Operators that write over their inputs."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 8, 3, padding=1)
        self.b = nn.Conv2d(8, 8, 3, padding=1)

    def forward(self, x):
        y = self.a(x).relu_()
        z = self.b(y).sigmoid_()
        z += y
        z[:, 0].mul_(2.0)
        return z.clamp_(0.1, 1.5)


class Lstm(nn.Module):
    """Two layers of an LSTM; the last hidden and cell states are outputs, too."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(16, 24, num_layers=2, batch_first=True)

    def forward(self, x) -> Tuple[Tensor, Tensor, Tensor]:
        y, state = self.lstm(x)
        return y, state[0], state[1]


class Gru(nn.Module):
    """A GRU in both directions."""

    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(16, 16, batch_first=True, bidirectional=True)

    def forward(self, x):
        return self.gru(x)[0][:, -1]


class Attention(nn.Module):
    """A block of a transformer."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(32, 96)
        self.out = nn.Linear(32, 32)
        self.norm = nn.LayerNorm(32)
        self.up = nn.Linear(32, 64)
        self.down = nn.Linear(64, 32)

    def forward(self, x):
        batch, length, width = x.shape
        qkv = self.qkv(x).view(batch, length, 3, 4, width // 4).permute(2, 0, 3, 1, 4)
        weights = torch.softmax(qkv[0] @ qkv[1].transpose(-2, -1) * 0.35, -1)
        mixed = (weights @ qkv[2]).transpose(1, 2).reshape(batch, length, width)
        x = self.norm(x + self.out(mixed))
        return x + self.down(functional.gelu(self.up(x)))


class Fork(nn.Module):
    """Two branches that may run on other threads."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 8, 3, padding=1)
        self.b = nn.Conv2d(3, 8, 5, padding=2)

    def branch(self, x, wide: bool):
        if wide:
            return torch.relu(self.b(x)).mean([2, 3])
        return torch.relu(self.a(x)).amax([2, 3])

    def forward(self, x):
        other = torch.jit.fork(self.branch, x, True)
        mine = self.branch(x, False)
        return mine + torch.jit.wait(other)


class Counter(nn.Module):
    """Counts its calls and sums up its inputs in buffers: outputs depend on the calls before."""

    calls: Tensor
    total: Tensor

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))
        self.register_buffer("total", torch.zeros(1, 16))

    def forward(self, x):
        self.calls += 1
        # A new tensor, not the old one changed: memory of this call that outlives it.
        self.total = self.total + x.sum(0, keepdim=True)
        return self.total / self.calls + x


class Wide(nn.Module):
    """Intermediates much larger than inputs and output."""

    def forward(self, x):
        outer = x.unsqueeze(2) * x.unsqueeze(1)
        outer = torch.relu(outer - 0.25) + torch.sigmoid(outer)
        return outer.sum([1, 2])


class Cache(nn.Module):
    """A state that grows by its input in each call."""

    def __init__(self):
        super().__init__()
        self.kept = torch.zeros(0)

    def forward(self, x):
        self.kept = torch.cat([self.kept, x])
        return self.kept.mean(0)


class Chain(nn.Module):
    """Each sum is larger than the hole that earlier ones left, so a first fit leaves holes."""

    def forward(self, x):
        y = x
        for _ in range(24):
            y = torch.cat([y, x])
        return y.mean(0)


class Nonzero(nn.Module):
    """The outputs' sizes depend on the input's values."""

    def forward(self, x) -> Tuple[Tensor, Tensor]:
        mask = x > 0.5
        return torch.nonzero(mask), x[mask] * 2.0


class TextEncoder(nn.Module):
    """A small transformer over token numbers and a mask, as DJL's tokenizers make them."""

    def __init__(self, width=32, heads=4, words=64, places=160):
        super().__init__()
        self.heads = heads
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(places, width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.attended = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.normalised = nn.LayerNorm(width)

    def forward(self, tokens, mask):
        batch, length = tokens.shape
        x = self.words(tokens) + self.places(torch.arange(length, device=tokens.device))
        width = x.size(2)
        qkv = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        hidden = (1.0 - mask.to(x.dtype)).view(batch, 1, 1, length) * -10000.0
        weights = torch.softmax(qkv[0] @ qkv[1].transpose(-2, -1) * 0.35 + hidden, -1)
        mixed = (weights @ qkv[2]).transpose(1, 2).reshape(batch, length, width)
        x = self.attended(x + self.out(mixed))
        return self.normalised(x + self.down(functional.gelu(self.up(x))))


class TextStates(TextEncoder):
    """The state of each token: DJL pools them to an embedding."""


class TextAnswer(nn.Module):
    """For each token, whether an answer begins or ends there."""

    def __init__(self):
        super().__init__()
        self.encoder = TextEncoder()
        self.head = nn.Linear(32, 2)

    def forward(self, tokens, mask) -> Tuple[Tensor, Tensor]:
        scores = self.head(self.encoder(tokens, mask)) * 4.0
        return scores[:, :, 0].contiguous(), scores[:, :, 1].contiguous()


class TextLabels(nn.Module):
    """Scores of five labels for each token."""

    def __init__(self):
        super().__init__()
        self.encoder = TextEncoder()
        self.head = nn.Linear(32, 5)

    def forward(self, tokens, mask):
        return self.head(self.encoder(tokens, mask)) * 4.0


class TextPair(nn.Module):
    """One score for a pair of texts."""

    def __init__(self):
        super().__init__()
        self.encoder = TextEncoder()
        self.head = nn.Linear(32, 1)

    def forward(self, tokens, mask):
        return self.head(self.encoder(tokens, mask)[:, 0])


class Generator(nn.Module):
    """A decoder for DJL's text generation: it takes and returns keys and values, which grow."""

    def __init__(self, layers=2, width=32, heads=4, words=64):
        super().__init__()
        self.heads = heads
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(512, width)
        self.qkv = nn.ModuleList([nn.Linear(width, 3 * width) for _ in range(layers)])
        self.up = nn.ModuleList([nn.Linear(width, 2 * width) for _ in range(layers)])
        self.down = nn.ModuleList([nn.Linear(2 * width, width) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words)

    def forward(
        self, tokens, positions, mask, past: List[Tensor]
    ) -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
        batch, length = tokens.shape
        x = self.words(tokens) + self.places(positions)
        width = x.size(2)
        before = past[0].size(2)
        seen = torch.arange(before + length).unsqueeze(0) <= (torch.arange(length) + before).unsqueeze(1)
        allowed = seen.unsqueeze(0).unsqueeze(0) & (mask > 0).view(batch, 1, 1, before + length)
        kept: List[Tensor] = []
        for i, (qkv, up, down) in enumerate(zip(self.qkv, self.up, self.down)):
            split = qkv(self.norm(x)).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
            keys = torch.cat([past[2 * i], split[1]], 2)
            values = torch.cat([past[2 * i + 1], split[2]], 2)
            scores = (split[0] @ keys.transpose(-2, -1) * 0.35).masked_fill(~allowed, -10000.0)
            x = x + (torch.softmax(scores, -1) @ values).transpose(1, 2).reshape(batch, length, width)
            x = x + down(functional.gelu(up(x)))
            kept += [keys, values]
        x = self.norm(x)
        return self.head(x) * 4.0, kept[0], kept[1], kept[2], kept[3], x


class CachedGenerator(nn.Module):
    """A decoder of one token at a time, which writes keys and values into caches that it is given."""

    def __init__(self, width=32, heads=4, words=64):
        super().__init__()
        self.heads = heads
        self.words = nn.Embedding(words, width)
        self.qkv = nn.Linear(width, 3 * width)
        self.head = nn.Linear(width, words)

    def forward(self, tokens, position, keys, values) -> Tuple[Tensor, Tensor, Tensor]:
        x = self.words(tokens)
        batch, width = x.size(0), x.size(2)
        split = self.qkv(x).view(batch, 1, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        keys.index_copy_(2, position, split[1])
        values.index_copy_(2, position, split[2])
        later = torch.arange(keys.size(2)) > position
        scores = (split[0] @ keys.transpose(-2, -1) * 0.35).masked_fill(later, -10000.0)
        mixed = (torch.softmax(scores, -1) @ values).transpose(1, 2).reshape(batch, 1, width)
        return self.head(x + mixed) * 4.0, keys, values


class BufferedGenerator(nn.Module):
    """As CachedGenerator, of one sequence, whose keys and values are the model's own."""

    keys: Tensor
    values: Tensor

    def __init__(self):
        super().__init__()
        self.inner = CachedGenerator()
        self.register_buffer("keys", torch.zeros(1, 4, 48, 8))
        self.register_buffer("values", torch.zeros(1, 4, 48, 8))

    def forward(self, tokens, position):
        return self.inner(tokens, position, self.keys, self.values)[0]


class RandomNoise(nn.Module):
    """Adds random numbers to its outputs."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 16)

    def forward(self, x):
        return self.layer(x) + torch.rand_like(x)


class AlwaysDropout(nn.Module):
    """Drops elements at random, not only in training."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 16)

    def forward(self, x):
        return functional.dropout(self.layer(x), 0.5, training=True)


class RunningMean(nn.Module):
    """Writes the mean of its inputs into a buffer, and subtracts it."""

    mean: Tensor

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 16)
        self.register_buffer("mean", torch.zeros(16))

    def forward(self, x):
        self.mean.mul_(0.5).add_(x.mean(0) * 0.5)
        return self.layer(x - self.mean)


class TrainingNorm(nn.Module):
    """Normalises with the statistics of the batch, and updates its running ones."""

    mean: Tensor
    variance: Tensor

    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 8, 3)
        self.register_buffer("mean", torch.zeros(8))
        self.register_buffer("variance", torch.ones(8))

    def forward(self, x):
        return functional.batch_norm(self.layer(x), self.mean, self.variance, training=True)


class SeveralMethods(nn.Module):
    """Has another method that callers use."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 16)

    @torch.jit.export
    def encode(self, x):
        return self.layer(x)

    def forward(self, x):
        return torch.relu(self.encode(x))


class DoublePrecision(nn.Module):
    """Computes in 64-bit floats."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 64).double()
        self.other = nn.Linear(64, 16).double()

    def forward(self, x):
        return self.other(torch.relu(self.layer(x.double())))


class NoBias(nn.Module):
    """Linear layers without bias, one of them on a vector and one with one output."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 64, bias=False)
        self.one = nn.Linear(64, 1, bias=False)

    def forward(self, x):
        y = torch.relu(self.layer(x))
        return self.one(y), self.layer(x[0])


class Raises(nn.Module):
    """Raises an exception for inputs with a large element."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 16)

    def forward(self, x):
        if bool(x.max() > 100.0):
            raise ValueError("an element is too large")
        return self.layer(x)


class NotFinite(nn.Module):
    """Outputs NaN and infinite numbers beside others."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 16)

    def forward(self, x):
        y = self.layer(x)
        return torch.log(y) / torch.relu(y - 0.1)


class Chaotic(nn.Module):
    """Amplifies the last bit of its inputs until it is the first one."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 16)

    def forward(self, x):
        y = torch.sigmoid(self.layer(x))
        for _ in range(60):
            y = 3.99 * y * (1.0 - y)
        return y


class Quantized(nn.Module):
    """Linear layers with 8-bit weights."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 64)
        self.other = nn.Linear(64, 16)

    def forward(self, x):
        return self.other(torch.relu(self.layer(x)))


class OutlierChannel(nn.Module):
    """One channel between two layers is ten thousand times as large as the others."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, 64)
        self.layer.weight.data[7] *= 1e4
        self.other = nn.Linear(64, 64)
        self.other.weight.data[:, 7] *= 1e-4

    def forward(self, x):
        return self.other(self.layer(x))


class LargeWeights(nn.Module):
    """Has weights that are larger than the largest 16-bit float, which is 65,504."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, 64)
        self.layer.weight.data *= 1e6
        self.other = nn.Linear(64, 64, bias=False)

    def forward(self, x):
        return self.other(torch.tanh(self.layer(x) * 1e-6))


class LargeRows(nn.Module):
    """Has an embedding with a row that is larger than the largest 16-bit float."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(100, 64)
        self.words.weight.data[99] *= 1e6
        self.layer = nn.Linear(64, 64)

    def forward(self, x):
        return self.layer(self.words(x))


class Convolutions(nn.Module):
    """Convolutions of all kinds, one of them with computed weights, and a view of an image as rows."""

    def __init__(self):
        super().__init__()
        self.strided = nn.Conv2d(3, 8, 5, stride=2, padding=(2, 1), bias=False)
        self.dilated = nn.Conv2d(8, 8, 3, padding=2, dilation=2)
        self.grouped = nn.Conv2d(8, 16, 3, padding=1, groups=4)
        self.mirrored = nn.Conv2d(16, 16, 3, padding=1, padding_mode="reflect")
        self.transposed = nn.ConvTranspose2d(16, 8, 3, stride=2)
        self.of_one_dimension = nn.Conv1d(8, 4, 3)
        self.of_three_dimensions = nn.Conv3d(1, 4, 3, padding=1)
        self.unused_channels = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        x = torch.relu(self.dilated(functional.relu_(self.strided(x))))
        weights = x.mean([0, 2, 3]).reshape(8, 1, 1, 1)
        x = torch.relu_(functional.conv2d(x, weights, groups=8) + x)
        y = self.mirrored(self.grouped(x))
        z = torch.relu(self.transposed(y))
        rows = self.of_one_dimension(z.flatten(2))
        volume = self.of_three_dimensions(x.unsqueeze(1))
        return y.view(y.size(0), -1), rows, volume, self.unused_channels(x[:, :, ::2, 1:])


class OneImage(nn.Module):
    """Takes images with and without a batch."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 32, 3, padding=1)
        self.other = nn.Conv2d(32, 32, 3, padding=1)

    def forward(self, x):
        return self.other(torch.relu(self.layer(x)))


class LargeOutput(nn.Module):
    """Its output takes 60,000 times as much memory as its input."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 16)

    def forward(self, x):
        return self.layer(x).repeat(1, 60000)


class SamePadding(nn.Module):
    """A convolution whose padding is named."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 8, 3, padding="same")
        self.usual = nn.Conv2d(8, 8, 3, padding=1)

    def forward(self, x):
        return torch.relu(self.usual(torch.relu(self.layer(x))))


class Rehearsal(nn.Module):
    """What the command line runs before the model that it measures."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 8, 3, padding=1)
        self.b = nn.Conv2d(8, 4, 1)
        self.c = nn.Linear(4 * 8 * 8, 10)

    def forward(self, x):
        return self.c(torch.relu(self.b(torch.relu(self.a(x)))).flatten(1))


def write(folder: pathlib.Path, name: str, module: torch.jit.ScriptModule):
    """Saves without the records for debugging, which name folders of the machine."""
    saved = io.BytesIO()
    torch.jit.save(module, saved)
    file = folder / f"{name}.pt"
    writer = torch._C.PyTorchFileWriter(str(file))
    with zipfile.ZipFile(saved) as archive:
        for entry in archive.namelist():
            record = entry.split("/", 1)[1]
            if record != "version" and not record.endswith(".debug_pkl"):
                data = archive.read(entry)
                writer.write_record(record, data, len(data))
    writer.write_end_of_file()
    size = file.stat().st_size
    assert size < LARGEST_BYTES, f"{file} has {size} bytes"
    print(f"{size:8} {file}")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    if sys.argv[2:] == ["rehearsal"]:
        torch.manual_seed(1)
        write(folder, "rehearsal", torch.jit.script(Rehearsal().eval()))
        return
    modules = [
        Cnn, Branch, Loop, Growing, ManyInputs, TupleOutputs, DictOutputs, ListOutputs, Embedding,
        Half, Bfloat16, Bytes, ViewOutput, InputAsOutput, SameTwice, InPlace, Lstm, Gru, Attention,
        Fork, Counter, Cache, Chain, Wide, Nonzero, TextStates, TextAnswer, TextLabels, TextPair, Generator,
        CachedGenerator, BufferedGenerator, RandomNoise, AlwaysDropout, RunningMean, TrainingNorm,
        SeveralMethods, DoublePrecision, NoBias, Raises, NotFinite, Chaotic, OutlierChannel,
        LargeWeights, LargeRows, Convolutions, OneImage, SamePadding,
        LargeOutput,
    ]
    for module in modules:
        torch.manual_seed(1)
        name = "".join("_" + c.lower() if c.isupper() else c for c in module.__name__).lstrip("_")
        write(folder, name, torch.jit.script(module().eval()))
    torch.manual_seed(1)
    cnn = Cnn().eval()
    write(folder, "cnn_traced", torch.jit.trace(cnn, torch.rand(1, 3, 32, 32)))
    write(folder, "convolutions_traced", torch.jit.trace(Convolutions().eval(), torch.rand(1, 3, 32, 32)))
    write(folder, "cnn_frozen", torch.jit.freeze(torch.jit.script(cnn)))
    torch.manual_seed(1)
    torch.backends.quantized.engine = "qnnpack"
    quantized = torch.quantization.quantize_dynamic(Quantized().eval(), {nn.Linear}, torch.qint8)
    write(folder, "quantized", torch.jit.script(quantized))


if __name__ == "__main__":
    main()
