/* A memory map: steps of time across, addresses up, one rectangle for each tensor, drawn on uPlot's axes. */

const ZOOM_STEP = 1.5;
const HEADROOM = 1.06;
const LABEL_WIDTH = 44;
const LABEL_HEIGHT = 15;
const LETTER_WIDTH = 6.9;
const MOST_CONSUMERS = 3;

/** The part of an axis that a map shows. */
class Span {
  constructor(size, least) {
    this.size = size;
    this.least = Math.min(least, size);
    this.show(0, size);
  }

  get length() {
    return this.to - this.from;
  }

  show(from, length) {
    const shown = Math.min(this.size, Math.max(this.least, length));
    this.from = Math.max(0, Math.min(from, this.size - shown));
    this.to = this.from + shown;
  }

  /** Zooms in if the factor is below one; the point at a fraction of the length keeps its place. */
  zoom(factor, at) {
    const length = Math.min(this.size, Math.max(this.least, this.length * factor));
    this.show(this.from + (this.length - length) * at, length);
  }

  pan(share) {
    this.show(this.from + share * this.length, this.length);
  }

  /** Moves just enough to show a part or, if it is too long, its beginning. */
  reveal(from, to) {
    if (from < this.from || to > this.to) {
      this.show(to - from > this.length ? from : Math.min(from, Math.max(this.from, to - this.length)), this.length);
    }
  }
}

class MemoryMap {
  /**
   * @param shown the addresses shown at first, in bytes; all are the highest that can be shown
   * @param choose called when a box or nothing was selected
   */
  constructor(plan, label, { shown, all, choose = announceTensor }) {
    this.plan = plan;
    this.steps = plan.operators.length;
    this.peak = plan.breadthBytes.indexOf(plan.breadthBytes.reduce((most, each) => Math.max(most, each), 0));
    this.chosen = choose;
    this.time = new Span(Math.max(1, this.steps), 2);
    this.address = new Span(HEADROOM * all, 256);
    this.tip = el('div', { class: 'tip', hidden: true });
    this.hoverFrame = el('div', { class: 'frame thin' });
    this.selectedFrame = el('div', { class: 'frame' });
    this.element = el('div', { class: 'map', tabindex: '0', role: 'application', 'aria-roledescription': 'memory map', 'aria-label': label }, this.tip);
    this.show(bestStrategy(plan));
    this.address.show(0, HEADROOM * shown);
    this.plot = new Plot(this.element, () => this.element.clientHeight, this.#curve(), this.#definition());
    this.#listen();
  }

  /** Shows another plan in the same part of time and addresses. */
  show(strategy) {
    const { offsets } = strategy;
    this.strategy = strategy;
    this.bound = boundOf(this.plan, strategy);
    this.boxes = this.plan.tensors
      .map((tensor, index) => ({
        tensor,
        index,
        first: tensor.first,
        last: tensor.last,
        low: offsets[index],
        high: offsets[index] + tensor.bytes,
        colour: `${ownerOf(tensor).colour} ${index % 3}`,
      }))
      .filter((box) => box.low !== null && box.low !== undefined)
      .sort((a, b) => a.first - b.first || a.low - b.low);
    this.selected = null;
    this.lit = null;
    this.step = this.peak;
    this.#hover(null);
    this.repaint();
  }

  boxOf(tensor) {
    return this.boxes.find((box) => box.tensor === tensor) ?? null;
  }

  /** Returns the live rectangles, largest first. */
  aliveAt(step) {
    return this.boxes.filter((box) => box.first <= step && step <= box.last).sort((a, b) => b.tensor.bytes - a.tensor.bytes);
  }

  overlapping(box) {
    return this.boxes.filter((each) => each !== box && each.first <= box.last && box.first <= each.last);
  }

  /** Returns the unused parts of the arena, as pairs of addresses. */
  gapsAt(step) {
    const gaps = [];
    let end = 0;
    for (const box of this.aliveAt(step).sort((a, b) => a.low - b.low)) {
      gaps.push([end, box.low]);
      end = Math.max(end, box.high);
    }
    return [...gaps, [end, this.strategy.totalBytes]].filter(([from, to]) => to > from);
  }

  stepName(step) {
    return `step ${operatorName(this.plan, step)}`;
  }

  /** Returns the name of a tensor; for an allocation, which has only a number, the operator that makes it. */
  label({ tensor }) {
    return (this.plan.recorded && this.plan.operators[tensor.producer]) || tensor.name;
  }

  /** Returns shape and type; a recording may know only the size. */
  arrayType({ tensor }) {
    return this.plan.recorded && !tensor.shape && !tensor.type ? 'shape not recorded' : arrayType(tensor);
  }

  /** Returns the first operators that use a tensor. */
  users({ tensor }, most) {
    const consumers = tensor.consumers ?? [];
    const more = consumers.length > most ? ` and ${count(consumers.length - most)} more` : '';
    return consumers.slice(0, most).map((each) => operatorName(this.plan, each)).join(', ') + more;
  }

  lifetime(box) {
    return `steps ${stepNumber(this.plan, box.first)}–${stepNumber(this.plan, box.last)}`;
  }

  /** Paints once, before the next frame. */
  repaint() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      const { plot } = this.plot;
      plot?.setScale('x', this.#range(this.time, 0.5));
      plot?.setScale('y', this.#range(this.address, 0));
    });
  }

  #range({ from, to }, shift) {
    return { min: from - shift, max: to - shift };
  }

  /** Returns the total size of live tensors at each step; a step reaches half a unit to both sides. */
  #curve() {
    const { breadthBytes } = this.plan;
    const x = [...breadthBytes.map((_, step) => step - 0.5), this.steps - 0.5];
    const y = [...breadthBytes, breadthBytes.at(-1) ?? 0];
    return [x, y, y];
  }

  #definition() {
    const { stepped, linear } = uPlot.paths;
    const step = stepped({ align: 1 });
    const line = linear();
    const dense = ({ bbox }) => this.time.length > bbox.width / 2;
    const curve = (halo) => ({
      stroke: (plot) => (halo ? colour('halo') : dense(plot) ? translucent('curve', 75) : colour('curve')),
      width: halo ? 4 : 1.75,
      paths: (plot, ...part) => (halo && dense(plot) ? null : dense(plot) ? line(plot, ...part) : step(plot, ...part)),
      points: { show: false },
    });
    const range = (span, shift) => () => [span.from - shift, span.to - shift];
    const room = () => (this.element.clientWidth - 88) / this.time.length;
    const stepLabel = (tick) => {
      const type = room() >= 54 ? this.plan.operators[tick] : '';
      return `${stepNumber(this.plan, tick)}${type ? `\n${canvasName(type, Math.floor(room() / 7))}` : ''}`;
    };
    const border = { show: true, stroke: () => colour('edge'), width: 1 };
    const wholeSteps = [1, 2, 5].flatMap((each) => [1, 10, 100, 1e3, 1e4, 1e5, 1e6].map((power) => each * power)).sort((a, b) => a - b);
    return {
      padding: [30, 14, 0, 0],
      cursor: { show: false },
      scales: { x: { time: false, range: range(this.time, 0.5) }, y: { range: range(this.address, 0) } },
      axes: [
        axis(`time, in ${stepWord(this.plan)}`, stepLabel, { size: 34, space: 56, incrs: wholeSteps, grid: { show: false }, border }),
        axis('', bytes, { size: 74, space: 40, labelSize: 0, border }),
      ],
      series: [{}, curve(true), curve(false)],
      hooks: {
        drawAxes: [(plot) => paint(plot, (...place) => this.#drawBoxes(...place))],
        draw: [
          (plot) => {
            paint(plot, (...place) => this.#drawLabels(...place));
            paint(plot, (...place) => this.#drawLevels(...place), false);
            this.#frame(this.hoverFrame, this.hovered);
            this.#frame(this.selectedFrame, this.selected);
          },
        ],
        ready: [
          (plot) => {
            plot.over.append(this.hoverFrame, this.selectedFrame);
            performance.mark('memory map painted');
          },
        ],
      },
    };
  }

  /** Draws the selected step, the ends of shared objects, and the rectangles colour by colour, which is fastest. */
  #drawBoxes(context, x, y, box) {
    this.#drawStep(context, x, y, box);
    context.fillStyle = colour('edge');
    for (const object of this.strategy.objects ?? []) {
      context.fillRect(box.left, Math.round(y(object.offset + object.bytes)), box.width, 1);
    }
    const { time, address } = this;
    const groups = new Map();
    this.labelled = [];
    for (const each of this.boxes) {
      if (each.first < time.to && each.last + 1 > time.from && each.low < address.to && each.high > address.from) {
        const dim = this.lit !== null && each !== this.selected && !this.lit.has(each);
        const group = dim ? 'dim' : each.colour;
        groups.set(group, groups.get(group) ?? []);
        groups.get(group).push(each);
      }
    }
    const scaleX = box.width / time.length;
    const scaleY = box.height / address.length;
    for (const group of [...groups.keys()].sort((a, b) => (b === 'dim') - (a === 'dim'))) {
      const [name, tint] = group.split(' ');
      context.fillStyle = colour(name, Number(tint ?? 0));
      for (const each of groups.get(group)) {
        const left = Math.round(box.left + Math.max(-4, (each.first - time.from) * scaleX));
        const right = Math.round(box.left + Math.min(box.width + 4, (each.last + 1 - time.from) * scaleX));
        const bottom = Math.round(box.top + box.height - Math.max(-4, (each.low - address.from) * scaleY));
        const top = Math.round(box.top + box.height - Math.min(box.height + 4, (each.high - address.from) * scaleY));
        const inset = right - left > 4 && bottom - top > 4 ? 1 : 0;
        context.fillRect(left, top + inset, Math.max(1, right - left - inset), Math.max(1, bottom - top - inset));
        if (name !== 'dim' && right - left >= LABEL_WIDTH && bottom - top >= LABEL_HEIGHT) {
          this.labelled.push({ each, left: Math.max(left, box.left), right, top, bottom });
        }
      }
    }
  }

  /** Draws the column of the selected step, and hatches the bytes of the arena that are unused then. */
  #drawStep(context, x, y, box) {
    const left = Math.round(x(this.step - 0.5));
    const width = Math.max(2, Math.round(x(this.step + 0.5)) - left);
    context.fillStyle = colour('column');
    context.fillRect(left, box.top, width, box.height);
    const wide = Math.max(width, 10);
    const start = left + (width - wide) / 2;
    context.save();
    context.beginPath();
    this.gapsAt(this.step).forEach(([from, to]) => context.rect(start, y(to), wide, y(from) - y(to)));
    context.clip();
    context.strokeStyle = colour('gap');
    context.beginPath();
    for (let at = box.top; at < box.top + box.height + wide; at += 6) {
      context.moveTo(start, at);
      context.lineTo(start + wide, at - wide);
    }
    context.stroke();
    context.restore();
  }

  /** Writes name and size into the rectangles with room for them. */
  #drawLabels(context) {
    context.lineWidth = 4;
    context.lineJoin = 'round';
    for (const { each, left, right, top, bottom } of this.labelled) {
      const [owner, tint] = each.colour.split(' ');
      const space = right - left - 9;
      const size = bytes(each.tensor.bytes);
      const name = fittingName(this.label(each), Math.floor(space / LETTER_WIDTH));
      // A truncated number would be another number, so what does not fit is left out.
      const fitting = [name, size].filter((line) => line !== '' && context.measureText(line).width <= space);
      const tall = bottom - top >= 32;
      context.strokeStyle = colour(owner, Number(tint));
      context.fillStyle = colour(`on-${owner}`);
      fitting.slice(0, tall ? 2 : 1).forEach((line, i) => {
        const base = tall ? top + 15 + 14 * i : (top + bottom) / 2 + 4;
        context.strokeText(line, left + 5, base);
        context.fillText(line, left + 5, base);
      });
    }
  }

  /** Draws the arena's end and the lower bound, with labels that do not cover each other, and marks the selected step. */
  #drawLevels(context, x, y, box) {
    context.font = '12px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const total = this.strategy.totalBytes;
    const right = box.left + box.width;
    const level = (at, text, name, dashed, above) => {
      const height = Math.round(y(at)) + 0.5;
      if (height < box.top - 1 || height > box.top + box.height + 1) {
        return;
      }
      context.strokeStyle = colour(name);
      context.lineWidth = 1.5;
      context.setLineDash(dashed ? [7, 4] : []);
      context.beginPath();
      context.moveTo(box.left, height);
      context.lineTo(right, height);
      context.stroke();
      const width = context.measureText(text).width;
      const line = above ? height - 10 : height + 11;
      context.fillStyle = colour('halo');
      context.fillRect(right - width - 10, line - 8, width + 8, 16);
      context.fillStyle = colour(name);
      context.textAlign = 'right';
      context.fillText(text, right - 6, line);
    };
    const reached = Math.abs(y(this.bound) - y(total)) < 1;
    if (this.bound > 0 && !reached) {
      level(this.bound, `lower bound ${bytes(this.bound)}`, 'bound', true, false);
    }
    const { to } = this.address;
    const text = `${total > to ? '↑ ' : ''}${bytes(total)}${reached ? ' = lower bound' : ''}`;
    level(Math.min(total, to), text, reached ? 'bound' : 'ink', reached, total <= to);
    const at = x(this.step);
    if (this.step >= 0 && at >= box.left - 1 && at <= right + 1) {
      const words = `${this.step === this.peak ? 'peak · ' : ''}step ${stepNumber(this.plan, this.step)} · ${bytes(this.plan.breadthBytes[this.step] ?? 0)} alive`;
      const half = context.measureText(words).width / 2 + 4;
      context.textAlign = 'center';
      context.fillStyle = colour('accent');
      context.fillText(words, Math.max(half, Math.min(right - half, at)), box.top - 18);
      context.fillText('▾', at, box.top - 5);
    }
  }

  /** Lays a frame around a rectangle. */
  #frame(frame, box) {
    const { plot } = this.plot;
    frame.hidden = !box;
    if (box) {
      const left = plot.valToPos(box.first - 0.5, 'x');
      const top = plot.valToPos(box.high, 'y');
      frame.style.left = `${left}px`;
      frame.style.top = `${top}px`;
      frame.style.width = `${plot.valToPos(box.last + 0.5, 'x') - left}px`;
      frame.style.height = `${plot.valToPos(box.low, 'y') - top}px`;
    }
  }

  zoom(factor, x = 0.5, y = 0) {
    this.time.zoom(factor, x);
    this.address.zoom(factor, y);
    this.repaint();
  }

  /** Shows all steps, and addresses up to a number of bytes. */
  fit(highest) {
    this.time.show(0, this.time.size);
    this.address.show(0, HEADROOM * highest);
    this.repaint();
  }

  #pan(x, y) {
    this.time.pan(x);
    this.address.pan(y);
    this.repaint();
  }

  /** Selects a rectangle or, if it is null, a step; highlights what overlaps it in time, and moves to it. */
  select(box, step = this.step) {
    this.selected = box;
    this.lit = box && new Set(this.overlapping(box));
    this.step = box && (step < box.first || step > box.last) ? box.first : step;
    if (box) {
      this.time.reveal(box.first, box.last + 1);
      this.address.reveal(box.low, box.high);
    }
    this.repaint();
  }

  choose(box, step) {
    this.select(box, step);
    this.chosen(this);
  }

  #listen() {
    let pressed = null;
    let dragged = 0;
    const on = (name, listener) => this.element.addEventListener(name, (event) => this.plot.plot && listener(event, this.#place(event)), { passive: false });
    on('wheel', (event, at) => {
      event.preventDefault();
      this.zoom(Math.exp(Math.max(-240, Math.min(240, event.deltaY)) / 400), at.x, at.y);
    });
    on('pointerdown', (event) => {
      this.element.setPointerCapture(event.pointerId);
      pressed = event;
      dragged = 0;
    });
    on('pointermove', (event, at) => {
      if (!pressed) {
        this.#hover(at.box, event);
        return;
      }
      const [right, down] = [event.clientX - pressed.clientX, event.clientY - pressed.clientY];
      dragged += Math.abs(right) + Math.abs(down);
      pressed = event;
      this.#hover(null);
      this.#pan(-right / at.width, down / at.height);
    });
    on('pointerup', (_, at) => {
      if (pressed && dragged < 5) {
        this.choose(at.box, at.step);
      }
      pressed = null;
    });
    on('pointercancel', () => (pressed = null));
    on('pointerleave', () => this.#hover(null));
    on('keydown', (event) => this.#key(event));
  }

  /** Returns where a pointer is: fractions of both axes, the step, and the shortest-lived rectangle there. */
  #place(event) {
    const { left, bottom, width, height } = this.plot.plot.over.getBoundingClientRect();
    const x = (event.clientX - left) / width;
    const y = (bottom - event.clientY) / height;
    const step = Math.max(0, Math.min(this.steps - 1, Math.floor(this.time.from + x * this.time.length)));
    const address = this.address.from + y * this.address.length;
    const inside = x >= 0 && x <= 1 && y >= 0 && y <= 1;
    const there = this.boxes.filter((box) => inside && box.first <= step && step <= box.last && box.low <= address && address < box.high);
    const box = there.reduce((best, each) => (best && best.last - best.first <= each.last - each.first ? best : each), null);
    return { x: Math.min(1, Math.max(0, x)), y: Math.min(1, Math.max(0, y)), width, height, step, box };
  }

  #hover(box, event) {
    if (box !== this.hovered) {
      this.hovered = box;
      this.tip.hidden = !box;
      if (this.plot) {
        this.#frame(this.hoverFrame, box);
      }
      this.tip.replaceChildren(...(box ? this.#describe(box) : []));
    }
    if (box) {
      const { left, top, width, height } = this.element.getBoundingClientRect();
      const x = event.clientX - left + 16;
      const y = event.clientY - top + 18;
      const { offsetWidth, offsetHeight } = this.tip;
      this.tip.style.left = `${Math.max(0, Math.min(width - offsetWidth - 4, x))}px`;
      this.tip.style.top = `${y + offsetHeight > height ? Math.max(0, y - offsetHeight - 30) : y}px`;
    }
  }

  #describe(box) {
    const { tensor } = box;
    const users = this.users(box, MOST_CONSUMERS);
    const made = Number.isInteger(tensor.producer) ? ` · from ${operatorName(this.plan, tensor.producer)}` : '';
    return [
      el('strong', {}, named(tensor.name)),
      el('div', {}, `${bytes(tensor.bytes)} · ${this.arrayType(box)}`),
      el('div', {}, `${this.lifetime(box)} · at ${bytes(box.low)}`),
      el('div', { class: 'quiet' }, ownerOf(tensor).label + made + (users && ` · used by ${users}`)),
    ];
  }

  #key(event) {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const way = ways[event.key];
    const zoom = { '+': 1 / ZOOM_STEP, '=': 1 / ZOOM_STEP, '-': ZOOM_STEP }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    if (way && event.shiftKey) {
      this.#pan(way[0] / 10, way[1] / 10);
    } else if (way) {
      this.choose(this.#neighbour(...way));
    } else if (zoom) {
      this.zoom(zoom, 0.5, 0.5);
      this.select(this.selected);
    } else if (event.key === '0') {
      this.fit(this.strategy.totalBytes);
    } else if (event.key === 'p') {
      this.choose(null, this.peak);
    } else if (event.key === 'Escape') {
      this.choose(null);
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Returns the previous or next rectangle in time, or the next live one below or above. */
  #neighbour(right, up) {
    const { selected, boxes } = this;
    if (!selected) {
      return this.aliveAt(this.peak)[0] ?? boxes[0] ?? null;
    }
    if (right !== 0) {
      return boxes[boxes.indexOf(selected) + right] ?? selected;
    }
    const distance = (box) => up * (box.low - selected.low);
    const beyond = this.overlapping(selected).filter((box) => distance(box) > 0);
    return beyond.sort((a, b) => distance(a) - distance(b))[0] ?? selected;
  }
}

/** Returns the name, or its last part, or nothing if neither fits. */
function fittingName(name, room) {
  const last = name.length <= room ? name : name.slice(-room - 1).split(/[/;:.]/).slice(1).pop() ?? '';
  return last !== '' ? canvasName(last, room) : room >= 12 && name !== '' ? canvasName(name, room) : '';
}

/** Announces the selection of a map to screen readers: a tensor, or else a step. */
function announceTensor(map) {
  const { selected: box, step, plan } = map;
  announce(
    box
      ? `Tensor ${shortened(box.tensor.name)}: ${arrayType(box.tensor)}, ${bytes(box.tensor.bytes)}, ${map.lifetime(box)}, offset ${bytes(box.low)}, ` +
          `${ownerOf(box.tensor).label}, ${counted(map.overlapping(box).length, 'other')} alive at the same time`
      : `${map.stepName(step)}: ${counted(map.aliveAt(step).length, 'tensor')} alive, ${bytes(plan.breadthBytes[step] ?? 0)}`,
  );
}
