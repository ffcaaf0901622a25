"""Makes docs/stepper.gif, README's picture of the wave stepper at work: `python tools/stepper_picture.py`.

Needs Chromium (a system package) and the `test` extra. A wave of 64 lanes is stepped with the right arrow key through a
kernel with a guard; each frame is what the browser shows.
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

SOURCE = """__global__ void saxpy(int n, float a, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a * x[i] + y[i];
    }
}
"""
N, THREADS, WAVE = 121, 128, 1
HINTS = ("s_waitcnt", "s_nop")
"""Instructions that change nothing to be seen: no frame."""
FRAME_MS, LAST_MS = 1300, 3500
WIDTH = 860


def main() -> int:
    """Write the picture; the exit code is 1 if the page reported a problem."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--out", type=Path, default=ROOT / "docs" / "stepper.gif")
    asked = ask.parse_args()
    import numpy as np
    from PIL import Image

    import gpulab
    from tests.browser.gallery import Gallery

    gpulab.use("virtual:gfx942")
    x = gpulab.to_device(np.arange(N, dtype="float32"))
    y = gpulab.to_device(np.ones(N, dtype="float32"))
    trace = gpulab.trace(gpulab.compile(SOURCE)["saxpy"], 1, THREADS, N, 2.0, x, y, wave=WAVE)
    frames = []
    with Gallery() as gallery:
        page = gallery.mount(trace.stepper(), width=WIDTH, height=1400)
        page.wait_for_timeout(500)
        page.locator(".gpulab-controls button:not([disabled])").first.focus()
        whole = page.locator(".gpulab").bounding_box()
        lower = page.get_by_text("Registers, in lane", exact=False).first.bounding_box()
        assert whole is not None
        assert lower is not None
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": lower["y"] - 6}
        for number, step in enumerate(trace.steps):
            if number:
                page.keyboard.press("ArrowRight")
                page.wait_for_timeout(150)
            if trace.instructions[step.instruction].text.startswith(HINTS):
                continue
            frames.append(Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB"))
        problems = list(gallery.problems)
    palette = frames[len(frames) // 2].quantize(64)
    drawn = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    drawn[0].save(
        asked.out, save_all=True, append_images=drawn[1:], loop=0, optimize=True,
        duration=[FRAME_MS] * (len(drawn) - 1) + [LAST_MS],
    )  # fmt: skip
    print(f"{asked.out}: {len(drawn)} frames, {asked.out.stat().st_size:,} bytes")
    for problem in problems:
        print("console:", problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
