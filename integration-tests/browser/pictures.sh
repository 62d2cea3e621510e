#!/usr/bin/env bash
# Makes the pictures of pages of reports in docs/images: reports of real models, each view in a
# headless Chromium. Needs the distribution (mvn package), the models of fetch-models.sh and
# torchscript_models.py, chromium and pngquant.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

models=$PWD/integration-tests/models
images=$PWD/docs/images
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# report NAME ARGUMENT...
report() {
    [[ -f $work/$1.html ]] || ./djlplan report "${@:2}" --html "$work/$1.html" >/dev/null
}

# picture NAME REPORT VIEW HEIGHT [DARK]
picture() {
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" \
        --window-size="1180,$4" --virtual-time-budget=5000 ${5:+--blink-settings=preferredColorScheme=0} \
        --screenshot="$work/$1.png" "file://$work/$2.html#$3" 2>/dev/null
    pngquant --quality 40-90 --speed 1 --strip --force --output "$images/$1.png" 64 -- "$work/$1.png"
}

# Copies, so that what is measured is kept beside them and not in the folder of the models.
cp "$models/hand_landmark_full.tflite" "$models/selfie_segmentation.tflite" \
    "$models/torchscript/resnet18.pt" "$work/"
./djlplan tune "$work/hand_landmark_full.tflite" --threads 1 >/dev/null
report tflite "$work/hand_landmark_full.tflite" --threads 1 --runs 60 --predictors 8 \
    --budgets 3/4,1/2,1/3,1/4 --with "$work/selfie_segmentation.tflite"
report torchscript "$work/resnet18.pt" --input-shape 1,3,224,224 --runs 40 --budgets 3/4,1/2,1/3
report network zoo:mobilenet_v2 --input-shape 1,3,224,224 --runs 40
./djlplan bench-planner --help >/dev/null

picture page-map tflite map 900
picture page-delegation tflite delegation 1000
picture page-budget tflite budget 900
picture page-run tflite run 900
picture page-models tflite models 760
picture page-workers tflite workers 560
picture page-torchscript torchscript map 900 dark
picture page-torchscript-budget torchscript budget 900
picture page-network network map 900
picture page-network-run network run 900
