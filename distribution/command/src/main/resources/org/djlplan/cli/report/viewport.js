/* The part of time and addresses that a map shows. */

const CLOSEST_STEPS = 2;
const CLOSEST_BYTES = 256;

class Viewport {
  /**
   * @param {number} steps of the whole map
   * @param {number} bytes of the whole map
   */
  constructor(steps, bytes) {
    this.steps = Math.max(1, steps);
    this.bytes = Math.max(1, bytes);
    this.left = 0;
    this.right = this.steps;
    this.low = 0;
    this.high = 1;
    this.fit(this.bytes);
  }

  /**
   * Shows all steps, and addresses up to a number of bytes.
   * @param {number} bytes
   */
  fit(bytes) {
    this.left = 0;
    this.right = this.steps;
    this.low = 0;
    this.high = Math.max(1, bytes) * 1.06;
  }

  /**
   * @param {number} factor a factor below one zooms in
   * @param {number} x the point that keeps its place, as a fraction of the width
   * @param {number} y the same point, as a fraction of the height, from below
   * @param {'both' | 'time' | 'address'} [axis]
   */
  zoom(factor, x, y, axis = 'both') {
    if (axis !== 'address') {
      const width = this.right - this.left;
      const next = Math.min(this.steps, Math.max(Math.min(CLOSEST_STEPS, this.steps), width * factor));
      this.left += (width - next) * x;
      this.right = this.left + next;
    }
    if (axis !== 'time') {
      const height = this.high - this.low;
      const next = Math.min(this.bytes * 1.06, Math.max(Math.min(CLOSEST_BYTES, this.bytes), height * factor));
      this.low += (height - next) * y;
      this.high = this.low + next;
    }
    this.#clamp();
  }

  /**
   * @param {number} x distance as a fraction of the width
   * @param {number} y distance as a fraction of the height
   */
  pan(x, y) {
    const width = this.right - this.left;
    const height = this.high - this.low;
    this.left += x * width;
    this.right += x * width;
    this.low += y * height;
    this.high += y * height;
    this.#clamp();
  }

  /**
   * Moves just enough to show the whole rectangle or, if it is too large, its beginning.
   * @param {number} first step
   * @param {number} last step
   * @param {number} offset in bytes
   * @param {number} bytes
   */
  reveal(first, last, offset, bytes) {
    const width = this.right - this.left;
    const height = this.high - this.low;
    if (first < this.left || last + 1 > this.right) {
      this.left = last + 1 - first > width ? first : Math.min(first, Math.max(this.left, last + 1 - width));
      this.right = this.left + width;
    }
    if (offset < this.low || offset + bytes > this.high) {
      this.low = bytes > height ? offset : Math.min(offset, Math.max(this.low, offset + bytes - height));
      this.high = this.low + height;
    }
    this.#clamp();
  }

  #clamp() {
    const width = this.right - this.left;
    const height = this.high - this.low;
    this.left = Math.max(0, Math.min(this.left, this.steps - width));
    this.right = this.left + width;
    this.low = Math.max(0, Math.min(this.low, this.bytes * 1.06 - height));
    this.high = this.low + height;
  }
}
