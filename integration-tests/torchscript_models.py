#!/usr/bin/python3
"""Makes TorchScript files of networks in their real sizes, for tests and benchmarks.

    integration-tests/torchscript_models.py [NAME ...] [--folder FOLDER]

Without names: those that the tests need. Every classifier of torchvision (resnet152, vgg19 ...) can
be named; encoders of a batch of any size of token numbers (int64) of any length up to 512, in the size
of BERT base ("bert_base" for batches of one, "bert_text"), of all-MiniLM-L6-v2 ("minilm") and small
("tiny_text"); "decoder", which takes one number (int64) and the keys and values of all tokens before,
and returns them with its own; "generator", a decoder of that size for DJL's text generation;
"sentences", minilm that also takes a mask, as DJL's tokenizers make it; "ocr", which reads a grey image 32 high;
"lstm", "gru" and "rnn", which tag tokens; "growing", which appends each input to its state; "image_generator",
which makes images of 100 numbers; and torchvision's networks for segmentation. Weights are random, and the same
at every run (trained_encoder.py makes an encoder with trained ones). NAME.onnx is the same network in a file for
ONNX Runtime. A file that is there is left alone.

Needs torch and torchvision. Debian: apt-get install python3-torch python3-torchvision; files of that
PyTorch, 1.13, load in every newer one.
"""

import argparse
import pathlib
import sys
import tempfile
import zlib
from typing import List

try:
    import torch
    import torchvision
    from torch import nn
except ImportError as error:
    sys.exit(f"{error}: install it (Debian: apt-get install python3-torch python3-torchvision)")

NEEDED = ["squeezenet1_1", "mobilenet_v2", "resnet18", "densenet121"]
# 1.3 GB, for tests of byte budgets.
NEEDED += ["resnet152", "vgg19", "bert_base"]
# For tests of lower precision.
NEEDED += ["minilm"]
FOLDER = pathlib.Path(__file__).resolve().parent / "models" / "torchscript"


class Attention(nn.Module):
    """Every token looks at every other, with several heads at once."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.size = width // heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, self.size).transpose(1, 2)

    def forward(self, x, hidden=None):
        query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = torch.matmul(query, key.transpose(2, 3)) / self.size**0.5
        if hidden is not None:
            scores = scores + hidden
        mixed = torch.matmul(torch.softmax(scores, 3), value)
        return self.output(mixed.transpose(1, 2).reshape(x.size(0), x.size(1), x.size(2)))


class Layer(nn.Module):
    """Attention, then a network for each token, with normalisation after each sum."""

    def __init__(self, width, heads, hidden):
        super().__init__()
        self.attention = Attention(width, heads)
        self.attended = nn.LayerNorm(width, eps=1e-12)
        self.inner = nn.Linear(width, hidden)
        self.outer = nn.Linear(hidden, width)
        self.normalised = nn.LayerNorm(width, eps=1e-12)

    def forward(self, x, hidden=None):
        x = self.attended(x + self.attention(x, hidden))
        return self.normalised(x + self.outer(nn.functional.gelu(self.inner(x))))


class Encoder(nn.Module):
    """The transformer encoder of Devlin et al. 2018 (BERT base), without its pooling layer."""

    def __init__(self, words=30_522, length=512, width=768, heads=12, layers=12):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(length, width)
        self.normalised = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.Sequential(*(Layer(width, heads, 4 * width) for _ in range(layers)))

    def forward(self, tokens, mask=None):
        places = torch.arange(tokens.size(1), device=tokens.device)
        hidden = None if mask is None else (1.0 - mask.float()).unsqueeze(1).unsqueeze(1) * -1e4
        x = self.normalised(self.words(tokens) + self.places(places))
        for layer in self.layers:
            x = layer(x, hidden)
        return x


class CachedLayer(nn.Module):
    """A layer of a decoder: tokens look at all before, whose keys and values it is given."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.size = width // heads
        self.inputs = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)
        self.attended = nn.LayerNorm(width)
        self.inner = nn.Linear(width, 4 * width)
        self.outer = nn.Linear(4 * width, width)
        self.normalised = nn.LayerNorm(width)

    def forward(self, x, keys, values, hidden=None):
        inputs = self.inputs(x).view(x.size(0), x.size(1), 3 * self.heads, self.size)
        query, key, value = inputs.transpose(1, 2).chunk(3, 1)
        keys, values = torch.cat((keys, key), 2), torch.cat((values, value), 2)
        scores = torch.matmul(query, keys.transpose(2, 3)) / self.size**0.5
        if hidden is not None:
            scores = scores.masked_fill(hidden, -1e4)
        mixed = torch.matmul(torch.softmax(scores, 3), values).transpose(1, 2).reshape(x.size(0), x.size(1), x.size(2))
        x = self.attended(x + self.output(mixed))
        return self.normalised(x + self.outer(nn.functional.gelu(self.inner(x)))), keys, values


class Decoder(nn.Module):
    """Token by token; keys and values are (2, layers, batch, heads, tokens, size)."""

    def __init__(self, words=8192, width=256, heads=4, layers=4):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.layers = nn.ModuleList(CachedLayer(width, heads) for _ in range(layers))
        self.out = nn.Linear(width, words)

    def forward(self, tokens, before):
        x = self.words(tokens)
        keys, values = [], []
        for i, layer in enumerate(self.layers):
            x, key, value = layer(x, before[0, i], before[1, i])
            keys.append(key)
            values.append(value)
        return self.out(x), torch.stack((torch.stack(keys), torch.stack(values)))


class Generator(nn.Module):
    """A decoder for DJL's text generation; keys and values of each layer are (batch, heads, tokens, size)."""

    def __init__(self, words=8192, width=256, heads=4, layers=4):
        super().__init__()
        self.heads = heads
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(1024, width)
        self.layers = nn.ModuleList(CachedLayer(width, heads) for _ in range(layers))
        self.out = nn.Linear(width, words)

    def forward(self, tokens, positions, mask, past: List[torch.Tensor]):
        x = self.words(tokens) + self.places(positions)
        before, length = past[0].size(2), tokens.size(1)
        seen = torch.arange(before + length).unsqueeze(0) <= torch.arange(before, before + length).unsqueeze(1)
        hidden = ~(seen & (mask > 0).unsqueeze(1).unsqueeze(1))
        kept = []
        for i, layer in enumerate(self.layers):
            x, keys, values = layer(x, past[2 * i], past[2 * i + 1], hidden)
            kept += [keys, values]
        return (self.out(x), *kept, x)


class Reader(nn.Module):
    """Reads a line of text (CRNN, Shi et al. 2015): scores of characters for every fourth column."""

    def __init__(self, characters=97):
        super().__init__()
        layers = []
        channels = 1
        for width, pool in ((64, 2), (128, 2), (256, (2, 1)), (256, (2, 1)), (256, (2, 1))):
            layers += [nn.Conv2d(channels, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(pool)]
            channels = width
        self.columns = nn.Sequential(*layers)
        self.lstm = nn.LSTM(channels, 128, bidirectional=True, batch_first=True)
        self.out = nn.Linear(256, characters)

    def forward(self, x):
        columns, _ = self.lstm(self.columns(x).squeeze(2).transpose(1, 2))
        return torch.softmax(self.out(columns), 2)


class Tagger(nn.Module):
    """Scores of 16 tags for each token, from a recurrent network of two layers."""

    def __init__(self, kind):
        super().__init__()
        self.words = nn.Embedding(4096, 128)
        self.layers = kind(128, 256, num_layers=2, batch_first=True)
        self.out = nn.Linear(256, 16)

    def forward(self, tokens):
        states, _ = self.layers(self.words(tokens))
        return self.out(states)


class Growing(nn.Module):
    """Keeps all inputs so far, and returns their mean."""

    def __init__(self):
        super().__init__()
        self.register_buffer("kept", torch.zeros(0, 1024))

    def forward(self, x):
        self.kept = torch.cat((self.kept, x))
        return self.kept.mean(0)


class ImageGenerator(nn.Module):
    """Makes images of 64 × 64 (DCGAN, Radford et al. 2015)."""

    def __init__(self, numbers=100, width=64):
        super().__init__()
        layers = []
        channels = numbers
        for i, out in enumerate((8 * width, 4 * width, 2 * width, width)):
            layers += [nn.ConvTranspose2d(channels, out, 4, 1 if i == 0 else 2, 0 if i == 0 else 1, bias=False)]
            layers += [nn.BatchNorm2d(out), nn.ReLU()]
            channels = out
        self.layers = nn.Sequential(*layers, nn.ConvTranspose2d(channels, 3, 4, 2, 1, bias=False), nn.Tanh())

    def forward(self, x):
        return self.layers(x.unsqueeze(2).unsqueeze(3))


class Segmentation(nn.Module):
    """A network of torchvision without its second output."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x):
        return self.network(x)["out"]


RECURRENT = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN}


ENCODERS = {
    "bert_base": {},
    "bert_text": {},
    "minilm": {"width": 384, "layers": 6},
    "tiny_text": {"words": 4096, "width": 64, "heads": 2, "layers": 2},
}


def build(name):
    """Returns a network and an example of its input."""
    torch.manual_seed(zlib.crc32(name.encode()))
    if name in ENCODERS:
        # Traced with several rows: sizes of one would be constants.
        return Encoder(**ENCODERS[name]), torch.randint(0, 4096, (1 if name == "bert_base" else 2, 128))
    if name == "decoder":
        return Decoder(), (torch.randint(0, 8192, (2, 1)), torch.rand(2, 4, 2, 4, 3, 64))
    if name == "generator":
        past = [torch.rand(2, 4, 3, 64) for _ in range(8)]
        tokens = torch.randint(0, 8192, (2, 5))
        return Generator(), (tokens, torch.arange(3, 8).repeat(2, 1), torch.ones(2, 8, dtype=torch.int64), past)
    if name == "sentences":
        return Encoder(**ENCODERS["minilm"]), (torch.randint(0, 4096, (2, 128)), torch.ones(2, 128, dtype=torch.int64))
    if name == "ocr":
        return Reader(), torch.rand(1, 1, 32, 100)
    if name in RECURRENT:
        return Tagger(RECURRENT[name]), torch.randint(0, 4096, (8, 32))
    if name == "growing":
        return Growing(), torch.rand(256, 1024)
    if name == "image_generator":
        return ImageGenerator(), torch.rand(2, 100)
    segmentation = getattr(torchvision.models.segmentation, name, None)
    if name.islower() and callable(segmentation):
        return Segmentation(segmentation(weights=None, weights_backbone=None)), torch.rand(2, 3, 224, 224)
    maker = getattr(torchvision.models, name, None)
    if not name.islower() or not callable(maker):
        sys.exit(f"torchvision {torchvision.__version__} has no network {name}")
    side = 299 if name == "inception_v3" else 224
    options = {"init_weights": True} if name in ("inception_v3", "googlenet") else {}
    return maker(weights=None, **options), torch.rand(1, 3, side, side)


def make(name, folder):
    onnx = name.endswith(".onnx")
    target = folder / (name if onnx else f"{name}.pt")
    if target.is_file():
        return
    network, example = build(name.removesuffix(".onnx"))
    with torch.no_grad():
        # Traced tensors of a module cannot be replaced.
        scripted = name == "growing"
        traced = torch.jit.script(network.eval()) if scripted else torch.jit.trace(network.eval(), example)
    with tempfile.TemporaryDirectory(dir=folder) as unfinished:
        made = pathlib.Path(unfinished) / target.name
        if onnx:
            torch.onnx.export(network, example, str(made))
        else:
            traced.save(str(made))
        made.rename(target)
    print(f"{target}: {target.stat().st_size / 1e6:.1f} MB", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Makes TorchScript files of networks in their real sizes.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: " + " ".join(NEEDED))
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.names or NEEDED:
        make(name, arguments.folder)


if __name__ == "__main__":
    main()
