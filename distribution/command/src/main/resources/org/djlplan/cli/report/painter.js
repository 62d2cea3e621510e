/* Paints the part of a scene that is in the viewport on a canvas. */

const MARGIN = { left: 74, right: 14, top: 30, bottom: 42 };
const SMALL = '11px system-ui, sans-serif';
const PLAIN = '12px system-ui, sans-serif';
const LABEL_WIDTH = 44;
const LABEL_HEIGHT = 15;
const LETTER_WIDTH = 6.9;

/**
 * @typedef {object} MapState what is shown in addition to the rectangles
 * @property {number} selected index, or -1
 * @property {Set<number> | null} lit rectangles that are not dimmed; null for all
 * @property {number} step the selected step, or -1
 * @property {boolean} breadth whether the curve is drawn
 * @property {boolean} gaps whether unused bytes at the step are shaded
 * @property {number} boundBytes the lower bound, 0 for none
 */

class Painter {
  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} width in CSS pixels
   * @param {number} height in CSS pixels
   * @param {Scene} scene
   * @param {Viewport} view
   */
  constructor(context, width, height, scene, view) {
    this.context = context;
    this.scene = scene;
    this.view = view;
    this.width = width;
    this.height = height;
    this.plotWidth = Math.max(1, width - MARGIN.left - MARGIN.right);
    this.plotHeight = Math.max(1, height - MARGIN.top - MARGIN.bottom);
    this.xScale = this.plotWidth / (view.right - view.left);
    this.yScale = this.plotHeight / (view.high - view.low);
    this.bottom = MARGIN.top + this.plotHeight;
  }

  /** @param {number} step */
  x(step) {
    return MARGIN.left + (step - this.view.left) * this.xScale;
  }

  /** @param {number} address */
  y(address) {
    return this.bottom - (address - this.view.low) * this.yScale;
  }

  /** @param {number} x */
  stepAt(x) {
    return Math.floor(this.view.left + (x - MARGIN.left) / this.xScale);
  }

  /** @param {number} y */
  addressAt(y) {
    return this.view.low + (this.bottom - y) / this.yScale;
  }

  /** @param {MapState} state */
  paint(state) {
    const { context } = this;
    context.fillStyle = colour('paper');
    context.fillRect(0, 0, this.width, this.height);
    this.#grid();
    context.save();
    context.beginPath();
    context.rect(MARGIN.left, MARGIN.top, this.plotWidth, this.plotHeight);
    context.clip();
    this.#objects();
    if (state.step >= 0) {
      this.#column(state);
    }
    const labelled = this.#rectangles(state);
    if (state.breadth) {
      this.#breadth();
    }
    this.#labels(labelled);
    if (state.selected >= 0) {
      this.outline(state.selected, 2.5);
    }
    context.restore();
    this.#levels(state);
    this.#steps();
    this.#marker(state);
  }

  #grid() {
    const { context, view } = this;
    context.font = SMALL;
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    const step = byteStep(view.high - view.low, this.plotHeight / 44);
    for (const tick of ticks(view.low, view.high, step)) {
      const y = Math.round(this.y(tick)) + 0.5;
      context.fillStyle = colour('line');
      context.fillRect(MARGIN.left, y - 0.5, this.plotWidth, 1);
      context.fillStyle = colour('quiet');
      context.fillText(bytes(tick), MARGIN.left - 8, y);
    }
  }

  /** Draws lines where shared objects begin. */
  #objects() {
    const { context, scene } = this;
    context.fillStyle = colour('edge');
    for (const object of scene.strategy.objects ?? []) {
      const y = Math.round(this.y(object.offset + object.bytes));
      for (let x = MARGIN.left; x < MARGIN.left + this.plotWidth; x += 6) {
        context.fillRect(x, y, 3, 1);
      }
    }
  }

  /**
   * Draws the column of the selected step, and the bytes of the arena that are unused then.
   * @param {MapState} state
   */
  #column(state) {
    const { context, scene } = this;
    const x = Math.round(this.x(state.step));
    const width = Math.max(2, Math.round(this.x(state.step + 1)) - x);
    context.fillStyle = colour('column');
    context.fillRect(x, MARGIN.top, width, this.plotHeight);
    if (!state.gaps) {
      return;
    }
    const wide = Math.max(width, 10);
    const left = x + (width - wide) / 2;
    for (const gap of scene.gapsAt(state.step)) {
      const top = Math.max(MARGIN.top, this.y(gap.from + gap.bytes));
      const end = Math.min(this.bottom, this.y(gap.from));
      this.#hatch(left, top, wide, end - top);
    }
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   */
  #hatch(x, y, width, height) {
    if (height < 1) {
      return;
    }
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    context.strokeStyle = colour('gap');
    context.lineWidth = 1;
    context.beginPath();
    for (let at = -height; at < width; at += 6) {
      context.moveTo(x + at, y + height);
      context.lineTo(x + at + height, y);
    }
    context.stroke();
    context.restore();
  }

  /**
   * Fills the rectangles colour by colour, which is the fastest way on a canvas.
   * @param {MapState} state
   * @returns {number[]} the rectangles with room for a label
   */
  #rectangles(state) {
    const { context, scene, view } = this;
    /** @type {Map<string, number[]>} */
    const groups = new Map();
    scene.between(view.left, view.right, (i) => {
      if (scene.offset[i] < view.high && scene.offset[i] + scene.bytes[i] > view.low) {
        const dim = state.lit !== null && i !== state.selected && !state.lit.has(i);
        const group = dim ? 'dim' : `${ownerOf(scene.tensors[i].owner ?? 'arena').colour} ${i % 3}`;
        const members = groups.get(group);
        if (members) {
          members.push(i);
        } else {
          groups.set(group, [i]);
        }
      }
    });
    const labelled = [];
    for (const group of [...groups.keys()].sort((a, b) => Number(b === 'dim') - Number(a === 'dim'))) {
      const [name, tint] = group.split(' ');
      context.fillStyle = colour(name, Number(tint ?? 0));
      for (const i of groups.get(group) ?? []) {
        const box = this.box(i);
        const inset = box.width > 4 && box.height > 4 ? 1 : 0;
        context.fillRect(box.x, box.y + inset, box.width - inset, box.height - inset);
        if (group !== 'dim' && box.width >= LABEL_WIDTH && box.height >= LABEL_HEIGHT) {
          labelled.push(i);
        }
      }
    }
    return labelled;
  }

  /**
   * @param {number} index
   * @returns {{ x: number, y: number, width: number, height: number }} in whole pixels, at most
   *   four pixels outside the plot
   */
  box(index) {
    const { scene } = this;
    const left = Math.max(MARGIN.left - 4, Math.round(this.x(scene.first[index])));
    const right = Math.min(MARGIN.left + this.plotWidth + 4, Math.round(this.x(scene.last[index] + 1)));
    const top = Math.max(MARGIN.top - 4, Math.round(this.y(scene.offset[index] + scene.bytes[index])));
    const end = Math.min(this.bottom + 4, Math.round(this.y(scene.offset[index])));
    return { x: left, y: top, width: Math.max(1, right - left), height: Math.max(1, end - top) };
  }

  /** @param {number[]} indices */
  #labels(indices) {
    const { context, scene } = this;
    context.textAlign = 'left';
    context.textBaseline = 'alphabetic';
    for (const i of indices) {
      const box = this.box(i);
      const owner = ownerOf(scene.tensors[i].owner ?? 'arena');
      const x = Math.max(box.x, MARGIN.left) + 5;
      const space = Math.min(box.x + box.width - 4, MARGIN.left + this.plotWidth) - x;
      const lines = box.height >= 32 ? 2 : 1;
      const top = box.y + (lines === 2 ? 15 : box.height / 2 + 4);
      context.save();
      context.beginPath();
      context.rect(box.x, box.y, box.width - 3, box.height);
      context.clip();
      context.font = SMALL;
      context.lineWidth = 4;
      context.lineJoin = 'round';
      context.strokeStyle = colour(owner.colour, i % 3);
      context.fillStyle = colour(`on-${owner.colour}`);
      const width = (/** @type {string} */ text) => context.measureText(text).width;
      const size = bytes(scene.bytes[i]);
      const room = Math.floor(space / LETTER_WIDTH);
      let name = fittingName(scene.label(i), room);
      if (width(name) > space) {
        name = fittingName(scene.label(i), Math.floor((room * space) / width(name)));
      }
      // A truncated number would be another number, so a number that does not fit is left out.
      const texts = (lines === 2 ? [name, size] : [name === '' ? size : name]).filter((text) => text !== '' && width(text) <= space);
      texts.forEach((text, line) => {
        context.strokeText(text, x, top + 14 * line);
        context.fillText(text, x, top + 14 * line);
      });
      context.restore();
    }
  }

  /** Draws the sum of the live sizes at each step; of the steps in one pixel, the largest sum. */
  #breadth() {
    const { context, scene, view } = this;
    const from = Math.max(0, Math.floor(view.left));
    const to = Math.min(scene.steps - 1, Math.ceil(view.right));
    const perPixel = Math.max(1, Math.floor(1 / this.xScale));
    const path = new Path2D();
    for (let step = from; step <= to; step += perPixel) {
      let most = 0;
      for (let each = step; each < Math.min(step + perPixel, to + 1); each++) {
        most = Math.max(most, scene.breadth[each]);
      }
      const y = this.y(most);
      path.lineTo(this.x(step), y);
      path.lineTo(this.x(Math.min(step + perPixel, scene.steps)), y);
    }
    const dense = perPixel > 2;
    context.lineJoin = 'round';
    if (!dense) {
      context.strokeStyle = colour('halo');
      context.lineWidth = 4;
      context.stroke(path);
    }
    context.strokeStyle = dense ? translucent('curve', 75) : colour('curve');
    context.lineWidth = dense ? 1 : 1.75;
    context.stroke(path);
  }

  /**
   * Draws the arena's end and the lower bound, with labels that do not cover each other.
   * @param {MapState} state
   */
  #levels(state) {
    const { scene } = this;
    const same = Math.abs(this.y(state.boundBytes) - this.y(scene.totalBytes)) < 1;
    if (state.boundBytes > 0 && !same) {
      this.#level(state.boundBytes, `lower bound ${bytes(state.boundBytes)}`, 'bound', true, false);
    }
    const text = same ? `${bytes(scene.totalBytes)} = lower bound` : bytes(scene.totalBytes);
    this.#level(scene.totalBytes, text, same ? 'bound' : 'ink', same, true);
  }

  /**
   * @param {number} level in bytes
   * @param {string} text
   * @param {string} name of the colour
   * @param {boolean} dashed
   * @param {boolean} above whether the text is above the line
   */
  #level(level, text, name, dashed, above) {
    const { context } = this;
    const y = Math.round(this.y(level)) + 0.5;
    if (y < MARGIN.top - 1 || y > this.bottom + 1) {
      return;
    }
    const right = MARGIN.left + this.plotWidth;
    context.strokeStyle = colour(name);
    context.lineWidth = 1.5;
    context.setLineDash(dashed ? [7, 4] : []);
    context.beginPath();
    context.moveTo(MARGIN.left, y);
    context.lineTo(right, y);
    context.stroke();
    context.setLineDash([]);
    context.font = PLAIN;
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    const at = above ? y - 10 : y + 11;
    const width = context.measureText(text).width;
    context.fillStyle = colour('halo');
    context.fillRect(right - width - 10, at - 8, width + 8, 16);
    context.fillStyle = colour(name);
    context.fillText(text, right - 6, at);
  }

  /** Draws the time axis: steps, and the operators' names where there is room. */
  #steps() {
    const { context, scene, view } = this;
    context.fillStyle = colour('edge');
    context.fillRect(MARGIN.left, this.bottom, this.plotWidth, 1);
    context.fillRect(MARGIN.left - 1, MARGIN.top, 1, this.plotHeight + 1);
    context.font = SMALL;
    context.textBaseline = 'top';
    context.textAlign = 'center';
    context.fillStyle = colour('quiet');
    const step = Math.max(1, decimalStep(view.right - view.left, this.plotWidth / 64));
    for (const tick of ticks(Math.ceil(view.left), Math.min(view.right, scene.steps - 1), step)) {
      const x = this.x(tick + 0.5);
      if (x <= MARGIN.left + this.plotWidth) {
        context.fillRect(Math.round(x), this.bottom, 1, 4);
        const text = scene.stepNumber(tick);
        context.fillText(text, Math.min(x, this.width - context.measureText(text).width / 2 - 1), this.bottom + 7);
      }
    }
    if (this.xScale >= 54 && scene.operators.length > 0) {
      for (let i = Math.max(0, Math.floor(view.left)); i < Math.min(scene.steps, view.right); i++) {
        const x = this.x(i + 0.5);
        if (scene.operators[i] && x > MARGIN.left + 20 && x < this.width - 24) {
          context.fillText(canvasName(scene.operators[i], Math.max(4, Math.floor(this.xScale / 7))), x, this.bottom + 23);
        }
      }
    } else {
      context.fillText(`time, in ${scene.stepWord}`, MARGIN.left + this.plotWidth / 2, this.bottom + 24);
    }
  }

  /**
   * Marks the selected step above the plot.
   * @param {MapState} state
   */
  #marker(state) {
    const { context, scene } = this;
    if (state.step < 0) {
      return;
    }
    const x = this.x(state.step + 0.5);
    if (x < MARGIN.left - 1 || x > MARGIN.left + this.plotWidth + 1) {
      return;
    }
    const text = `${state.step === scene.peak ? 'peak · ' : ''}step ${scene.stepNumber(state.step)} · ${bytes(scene.breadth[state.step] ?? 0)} alive`;
    context.font = PLAIN;
    context.textBaseline = 'middle';
    context.textAlign = 'center';
    const half = context.measureText(text).width / 2 + 2;
    const at = Math.max(half + 2, Math.min(this.width - half - 2, x));
    context.fillStyle = colour('accent');
    context.fillText(text, at, 12);
    context.beginPath();
    context.moveTo(x - 5, 21);
    context.lineTo(x + 5, 21);
    context.lineTo(x, 28);
    context.fill();
  }

  /**
   * @param {number} index
   * @param {number} thick
   */
  outline(index, thick) {
    const { context } = this;
    if (this.scene.placed[index] === 0) {
      return;
    }
    const box = this.box(index);
    const beside = thick / 2 + 0.5;
    for (const [name, width] of /** @type {[string, number][]} */ ([['halo', thick + 2.5], ['ink', thick]])) {
      context.strokeStyle = colour(name);
      context.lineWidth = width;
      context.strokeRect(box.x - beside, box.y - beside, box.width + 2 * beside, box.height + 2 * beside);
    }
  }
}

/**
 * @param {string} name
 * @param {number} room in characters
 * @returns {string} the name, or its last part, or nothing if neither fits
 */
function fittingName(name, room) {
  const last = name.length <= room ? name : name.slice(-room - 1).split(/[/;:.]/).slice(1).pop() ?? '';
  return last !== '' ? canvasName(last, room) : room >= 12 && name !== '' ? canvasName(name, room) : '';
}
