/*
 * One plan as rectangles: the x axis is time in steps, the y axis the address in bytes. An index
 * by step finds the rectangles that a picture or a pointer needs without looking at all of them.
 */

const MOST_BUCKETS = 64;

/** @typedef {{ from: number, bytes: number }} Gap */

class Scene {
  /**
   * @param {any} plan
   * @param {any} strategy one of the plan's
   */
  constructor(plan, strategy) {
    const { tensors } = plan;
    this.strategy = strategy;
    this.tensors = tensors;
    this.size = tensors.length;
    this.breadth = plan.breadthBytes;
    this.operators = plan.operators;
    this.stepWord = stepWord(plan);
    this.recorded = plan.recorded === true;
    this.steps = this.breadth.length;
    this.totalBytes = strategy.totalBytes;
    this.first = Int32Array.from(tensors, (tensor) => tensor.first);
    this.last = Int32Array.from(tensors, (tensor) => tensor.last);
    this.bytes = Float64Array.from(tensors, (tensor) => tensor.bytes);
    this.placed = Uint8Array.from(strategy.offsets, (offset) => (offset === null ? 0 : 1));
    this.offset = Float64Array.from(strategy.offsets, (offset) => offset ?? 0);
    this.extent = this.offset.reduce((most, offset, i) => Math.max(most, this.placed[i] * (offset + this.bytes[i])), this.totalBytes);
    /** By first step. */
    this.sorted = Int32Array.from(this.first.keys())
      .filter((i) => this.placed[i] === 1)
      .sort((a, b) => this.first[a] - this.first[b] || this.offset[a] - this.offset[b] || a - b);
    this.stepsPerBucket = Math.max(1, Math.ceil(this.steps / MOST_BUCKETS));
    this.buckets = this.#fill();
    /** Present if steps at which nothing changes were left out. @type {number[] | undefined} */
    this.stepNumbers = plan.stepNumbers;
    this.peak = this.breadth.reduce((best, value, i) => (value > this.breadth[best] ? i : best), 0);
  }

  /** @returns {number[][]} for each bucket of steps, the rectangles that are alive in it */
  #fill() {
    /** @type {number[][]} */
    const buckets = Array.from({ length: Math.max(1, Math.ceil(this.steps / this.stepsPerBucket)) }, () => []);
    for (const i of this.sorted) {
      const end = Math.floor(this.last[i] / this.stepsPerBucket);
      for (let bucket = Math.floor(this.first[i] / this.stepsPerBucket); bucket <= end; bucket++) {
        buckets[bucket].push(i);
      }
    }
    return buckets;
  }

  /** @param {number} step */
  #bucket(step) {
    return this.buckets[Math.floor(step / this.stepsPerBucket)] ?? [];
  }

  /**
   * Visits each rectangle that is alive at one of the steps once, in order of first steps.
   * @param {number} from
   * @param {number} to inclusive
   * @param {(index: number) => void} visit
   */
  between(from, to, visit) {
    const begin = Math.max(0, Math.floor(from));
    const end = Math.min(this.steps - 1, Math.floor(to));
    for (const i of this.#bucket(begin)) {
      if (this.first[i] < begin && this.last[i] >= begin) {
        visit(i);
      }
    }
    for (let at = this.#lowest(begin); at < this.sorted.length && this.first[this.sorted[at]] <= end; at++) {
      visit(this.sorted[at]);
    }
  }

  /**
   * @param {number} step
   * @returns {number} how many rectangles start earlier
   */
  #lowest(step) {
    let low = 0;
    let high = this.sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.first[this.sorted[middle]] < step) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /**
   * @param {number} step
   * @param {number} address
   * @returns {number} the rectangle there, the shortest if there are several; -1 if there is none
   */
  at(step, address) {
    let best = -1;
    for (const i of this.#bucket(step)) {
      const there =
        this.first[i] <= step && step <= this.last[i] && this.offset[i] <= address && address < this.offset[i] + this.bytes[i];
      if (there && (best < 0 || this.last[i] - this.first[i] < this.last[best] - this.first[best])) {
        best = i;
      }
    }
    return best;
  }

  /**
   * @param {number} step
   * @returns {number[]} the live rectangles, largest first
   */
  aliveAt(step) {
    return this.#bucket(step)
      .filter((i) => this.first[i] <= step && step <= this.last[i])
      .sort((a, b) => this.bytes[b] - this.bytes[a] || a - b);
  }

  /**
   * @param {number} index
   * @returns {Set<number>} the others that are alive at the same time
   */
  overlapping(index) {
    /** @type {Set<number>} */
    const others = new Set();
    this.between(this.first[index], this.last[index], (i) => others.add(i));
    others.delete(index);
    return others;
  }

  /**
   * @param {number} step
   * @returns {Gap[]} the unused bytes of the arena, by address
   */
  gapsAt(step) {
    /** @type {Gap[]} */
    const gaps = [];
    let end = 0;
    for (const i of this.aliveAt(step).sort((a, b) => this.offset[a] - this.offset[b])) {
      if (this.offset[i] > end) {
        gaps.push({ from: end, bytes: this.offset[i] - end });
      }
      end = Math.max(end, this.offset[i] + this.bytes[i]);
    }
    if (end < this.totalBytes) {
      gaps.push({ from: end, bytes: this.totalBytes - end });
    }
    return gaps;
  }

  /**
   * Returns the rectangle that an arrow key selects: the previous or next one in time, or the next
   * live one below or above.
   * @param {number} index -1 for none
   * @param {'left' | 'right' | 'up' | 'down'} way
   * @returns {number} the same rectangle if there is no other
   */
  neighbour(index, way) {
    if (index < 0) {
      return this.aliveAt(this.peak)[0] ?? this.sorted[0] ?? -1;
    }
    if (way === 'left' || way === 'right') {
      const at = this.sorted.indexOf(index);
      return this.sorted[at + (way === 'right' ? 1 : -1)] ?? index;
    }
    const sign = way === 'up' ? 1 : -1;
    let best = index;
    for (const i of this.overlapping(index)) {
      const distance = sign * (this.offset[i] - this.offset[index]);
      if (distance > 0 && (best === index || distance < sign * (this.offset[best] - this.offset[index]))) {
        best = i;
      }
    }
    return best;
  }

  /**
   * @param {number} step
   * @returns {string} for example "step 12 CONV_2D"
   */
  stepName(step) {
    const type = this.operators[step];
    return `step ${this.stepNumber(step)}${type ? ` ${shortened(type, 40)}` : ''}`;
  }

  /**
   * @param {number} index
   * @returns {string} its name; for an allocation, which has only a number, the operator that makes
   *   it
   */
  label(index) {
    const { name, producer } = this.tensors[index];
    return (this.recorded && this.operators[producer]) || name;
  }

  /**
   * @param {number} index
   * @returns {string} shape and type; a recording may know only the size
   */
  arrayType(index) {
    const { shape, type } = this.tensors[index];
    return this.recorded && !shape && !type ? 'shape not recorded' : arrayType(shape, type);
  }

  /**
   * @param {number} step
   * @returns {string} its number in the file
   */
  stepNumber(step) {
    return count(this.stepNumbers?.[step] ?? step);
  }

  /**
   * @param {number} operator an index, as in producers and consumers
   * @returns {string} for example "12 CONV_2D"
   */
  operatorName(operator) {
    const type = this.operators[operator];
    return `${this.stepNumber(operator)}${type ? ` ${shortened(type, 40)}` : ''}`;
  }
}
