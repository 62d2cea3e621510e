#!/usr/bin/env bash
# Makes real-size TorchScript models with seeded random weights for the tests and benchmarks, if a
# Python with torch and torchvision (Debian: python3-torch, python3-torchvision) and the script that
# makes them are there. Says what is missing otherwise, and succeeds: the tests make do without.
# usage: torch-models.sh SCRIPT      (environment: PYTHON, default: Debian's)
set -euo pipefail
script=${1:?usage: torch-models.sh SCRIPT}
python=${PYTHON:-/usr/bin/python3}
models="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/models/torchscript"
wanted=()
for name in squeezenet1_1 mobilenet_v2 resnet18 densenet121; do
    [[ -s $models/$name.pt ]] || wanted+=("$name")
done
if ((${#wanted[@]} == 0)); then
    exit 0
elif [[ ! -f $script ]]; then
    echo "no $script: tests run without real-size TorchScript models" >&2
elif ! "$python" -c 'import torch, torchvision' 2>/dev/null; then
    echo "$python has no torch and torchvision: tests run without real-size TorchScript models" >&2
else
    made=$(mktemp -d)
    trap 'rm -rf "$made"' EXIT
    "$python" "$script" "$made" "${wanted[@]}"
    mkdir -p "$models"
    mv "$made"/*.pt "$models/"
fi
