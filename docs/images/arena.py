#!/usr/bin/env python3
"""Draws arena.svg: the tensors of a model, each with memory of its own and in one planned arena.

    djlplan plan hand_landmark_full.tflite --live --strategy best --out plan.csv
    docs/images/arena.py plan.csv > docs/images/arena.svg
"""
import csv
import sys

WIDTH, HEIGHT, TOP, LEFT, GAP = 760, 330, 34, 44, 56

rows = [
    {key: int(row[key]) for key in ("lower", "upper", "size", "offset")}
    for row in csv.DictReader(open(sys.argv[1]))
]
rows.sort(key=lambda row: (row["lower"], row["upper"]))
naive = sum(row["size"] for row in rows)
arena = max(row["offset"] + row["size"] for row in rows)
end = max(row["upper"] for row in rows) + 1
panel = (WIDTH - LEFT - GAP) / 2
bottom = HEIGHT - 34
scale = (bottom - TOP) / naive


def rectangles(left, offsets):
    for number, (row, offset) in enumerate(zip(rows, offsets)):
        yield (
            f'<rect x="{left + panel * row["lower"] / end:.1f}" y="{bottom - (offset + row["size"]) * scale:.2f}"'
            f' width="{max(panel * (row["upper"] - row["lower"]) / end, 1.5):.1f}"'
            f' height="{max(row["size"] * scale, .4):.2f}" fill="hsl({number * 137 % 360},55%,55%)"/>'
        )


def text(x, y, words, anchor="start", kind="t"):
    return f'<text class="{kind}" x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{words}</text>'


stacked, total = [], 0
for row in rows:
    stacked.append(total)
    total += row["size"]
right = LEFT + panel + GAP
print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img"')
print(f' aria-label="{len(rows)} tensors: {naive / 1e6:.1f} MB each with memory of its own, {arena / 1e6:.1f} MB in one arena">')
print("<style>text{font:13px sans-serif;fill:#57606a}.h{font-weight:600;fill:#1f2328}line{stroke:#8c959f}")
print("@media(prefers-color-scheme:dark){text{fill:#9198a1}.h{fill:#f0f6fc}line{stroke:#656c76}}</style>")
print(text(LEFT, 16, f"each tensor with memory of its own: {naive / 1e6:.1f} MB", kind="h"))
print(text(right, 16, f"one planned arena: {arena / 1e6:.1f} MB", kind="h"))
print(*rectangles(LEFT, stacked), sep="\n")
print(*rectangles(right, [row["offset"] for row in rows]), sep="\n")
for left in (LEFT, right):
    print(f'<line x1="{left:.0f}" y1="{bottom + .5}" x2="{left + panel:.0f}" y2="{bottom + .5}"/>')
    print(f'<line x1="{left - .5:.1f}" y1="{TOP}" x2="{left - .5:.1f}" y2="{bottom}"/>')
    print(text(left + panel, bottom + 18, f"operators 0 – {end - 1} →", "end"))
for megabytes in range(0, int(naive / 1e6) + 1, 4):
    y = bottom - megabytes * 1e6 * scale
    print(f'<line x1="{LEFT - 5}" y1="{y:.1f}" x2="{LEFT}" y2="{y:.1f}"/>')
    print(text(LEFT - 9, y + 4, str(megabytes), "end"))
print(text(4, 30, "MB"))
y = bottom - arena * scale
print(f'<line x1="{right:.0f}" y1="{y:.1f}" x2="{right + panel:.0f}" y2="{y:.1f}" stroke-dasharray="4 3"/>')
print("</svg>")
