#!/usr/bin/env bash
# Makes the pictures of pages of reports in docs/images: reports of real models, each view in a
# headless Chromium. Needs the distribution (mvn package), the models of fetch-models.sh and
# torchscript_models.py, chromium, pngquant, and Pillow, which comes with python3-torchvision.
set -euo pipefail
project=$(CDPATH="" cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
models=$project/integration-tests/models
images=$project/docs/images
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# report NAME ARGUMENT...
report() {
    "$project/djlplan" report "${@:2}" --html "$1.html" >/dev/null
}

# picture NAME REPORT VIEW HEIGHT COLOURS [DARK]
picture() {
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir=profile \
        --window-size="1180,$4" --virtual-time-budget=5000 ${6:+--blink-settings=preferredColorScheme=0} \
        --screenshot="$1.png" "file://$work/$2.html#$3" 2>/dev/null
    pngquant --nofs --speed 1 --strip --force --output "$images/$1.png" "$5" -- "$1.png"
}

# pointed NAME: a copy of a report in which one tensor is clicked and another is pointed at.
pointed() {
    sed -e 's|<meta http-equiv="Content-Security-Policy"[^>]*>||' -e '/<\/body>/d' "$1.html"
    cat <<'PAGE'
<script>
addEventListener('load', () => setTimeout(() => {
  const map = document.querySelector('.map');
  const box = map.querySelector('.u-over').getBoundingClientRect();
  const at = (x, y) => ({ clientX: box.left + x * box.width, clientY: box.top + y * box.height, pointerId: 1, bubbles: true });
  map.setPointerCapture = () => {};
  map.dispatchEvent(new PointerEvent('pointerdown', at(.265, .75)));
  map.dispatchEvent(new PointerEvent('pointerup', at(.265, .75)));
  map.dispatchEvent(new PointerEvent('pointermove', at(.56, .8)));
}, 300));
</script>
</body>
PAGE
}

# Copies, so that what is measured is kept beside them and not in the folder of the models.
cp "$models/hand_landmark_full.tflite" "$models/selfie_segmentation.tflite" \
    "$models/FaceAntiSpoofing.tflite" "$models/hand_landmark_lite.tflite" "$models/torchscript/"{resnet18,resnet152}.pt .
for each in hand_landmark_full FaceAntiSpoofing; do
    "$project/djlplan" tune "$each.tflite" --threads 1 >/dev/null
done
report tflite hand_landmark_full.tflite --threads 1 --runs 60 --predictors 8 \
    --with hand_landmark_lite.tflite
report in-place selfie_segmentation.tflite
report large FaceAntiSpoofing.tflite --threads 1 --budgets 100MB,80MB,60MB,50MB,42MB
report torchscript resnet18.pt --input-shape 1,3,224,224
report streamed resnet152.pt --input-shape 1,3,224,224 --budgets 3/4,1/2,1/3,1/4
report network zoo:mobilenet_v2 --input-shape 1,3,224,224 --runs 40
# 20,000 buffers, each alive for some of 4,000 operators.
awk 'BEGIN {
    print "id,lower,upper,size"
    for (i = 0; i < 20000; i++) {
        first = (i * 7919) % 4000
        print i "," first "," first + 1 + (i * 104729) % 40 "," 64 * (1 + (i * 15485863) % 977)
    }
}' >buffers.csv
report buffers buffers.csv --time-limit 0s
# 1,000 tensors as those of a network: most live for a few operators, some for many.
awk 'BEGIN {
    print "id,lower,upper,size"
    for (i = 0; i < 1000; i++) {
        lives = i % 25 == 0 ? 20 + (i * 7919) % 60 : 2 + i % 3
        print "tensor" i "," i "," i + lives "," 64 * int((500 + (i * 15485863) % 1500) / (1 + int(i / 200)))
    }
}' >thousand.csv
report thousand thousand.csv
report full hand_landmark_full.tflite
pointed full >chosen.html
report owners hand_landmark_full.tflite --threads 1 --no-delegation --predictors 4

picture page-map tflite map 900 64
picture page-delegated large delegation 1020 64
picture page-budget large budget 1100 64
picture page-run tflite run 900 64
picture page-models tflite models 760 64
picture page-workers tflite workers 560 64
picture page-torchscript torchscript map 900 64 dark
picture page-torchscript-budget streamed budget 1100 64
picture page-network network map 900 64
picture page-buffers buffers map 900 64
picture page-network-run network run 900 64
picture page-thousand thousand map 900 64
picture page-in-place in-place map 900 64
picture page-chosen chosen map 900 64
# The panel below the map.
sed 's|</style>|.cards, .mapview, .folded, .foot, .tabs, #top { display: none !important }</style>|; s|<meta http-equiv="Content-Security-Policy"[^>]*>||' owners.html >only-owners.html
picture page-owners only-owners map 300 64
/usr/bin/python3 -c 'import sys
from PIL import Image
Image.open(sys.argv[1]).crop((0, 0, 1180, 140)).save(sys.argv[1], optimize=True)' "$images/page-owners.png"
