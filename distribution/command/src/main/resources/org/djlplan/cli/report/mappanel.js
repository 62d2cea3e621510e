/* A memory map that users zoom and move: wheel, drag, two fingers, keys. */

const ZOOM_STEP = 1.5;
const MOST_CONSUMERS = 3;

/**
 * @typedef {object} MapEvents
 * @property {(index: number, step: number) => void} [choose] called when a rectangle, or -1 for
 *   none, was clicked at a step
 * @property {(index: number) => void} [hover]
 * @property {() => void} [moved] called when the viewport has changed
 */

class MapPanel {
  /**
   * @param {Scene} scene
   * @param {Viewport} view may be shared with other panels
   * @param {string} label
   * @param {MapEvents} [events]
   */
  constructor(scene, view, label, events = {}) {
    this.scene = scene;
    this.view = view;
    this.events = events;
    /** @type {MapState} */
    this.state = { selected: -1, lit: null, step: scene.peak, breadth: true, gaps: true, boundBytes: 0 };
    this.hovered = -1;
    this.frame = 0;
    this.base = el('canvas', { 'aria-hidden': 'true' });
    this.overlay = el('canvas', {
      tabindex: '0',
      role: 'application',
      'aria-roledescription': 'memory map',
      'aria-label': label,
    });
    this.tip = el('div', { class: 'tip', hidden: true });
    this.element = el('div', { class: 'map' }, this.base, this.overlay, this.tip);
    /** @type {Map<number, PointerEvent>} */
    this.pointers = new Map();
    this.dragged = 0;
    this.#listen();
    new ResizeObserver(() => this.repaint()).observe(this.element);
    themeListeners.add(() => this.repaint());
  }

  #listen() {
    const { overlay } = this;
    overlay.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
    overlay.addEventListener('pointerdown', (event) => this.#down(event));
    overlay.addEventListener('pointermove', (event) => this.#move(event));
    overlay.addEventListener('pointerup', (event) => this.#up(event));
    overlay.addEventListener('pointercancel', (event) => this.pointers.delete(event.pointerId));
    overlay.addEventListener('pointerleave', () => this.#hover(-1));
    overlay.addEventListener('keydown', (event) => this.#key(event));
    overlay.addEventListener('dblclick', () => this.zoom(1 / ZOOM_STEP / ZOOM_STEP));
  }

  /**
   * Shows another plan in the same viewport.
   * @param {Scene} scene
   */
  show(scene) {
    this.scene = scene;
    this.state.selected = -1;
    this.state.lit = null;
    this.state.step = scene.peak;
    this.#hover(-1);
    this.repaint();
  }

  /** Paints once, before the next frame. */
  repaint() {
    if (this.frame === 0) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.paint();
      });
    }
  }

  paint() {
    const width = this.element.clientWidth;
    const height = this.element.clientHeight;
    if (width === 0 || height === 0) {
      return;
    }
    this.painter = new Painter(this.#context(this.base, width, height), width, height, this.scene, this.view);
    this.painter.paint(this.state);
    this.#paintOverlay();
    if (!this.painted) {
      this.painted = true;
      performance.mark('memory map painted');
    }
  }

  #paintOverlay() {
    const width = this.element.clientWidth;
    const height = this.element.clientHeight;
    const context = this.#context(this.overlay, width, height);
    context.clearRect(0, 0, width, height);
    if (this.hovered >= 0) {
      context.beginPath();
      context.rect(MARGIN.left, MARGIN.top, width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom);
      context.clip();
      new Painter(context, width, height, this.scene, this.view).outline(this.hovered, 1.5);
    }
  }

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {number} width
   * @param {number} height
   * @returns {CanvasRenderingContext2D} in CSS pixels
   */
  #context(canvas, width, height) {
    const dots = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * dots) || canvas.height !== Math.round(height * dots)) {
      canvas.width = Math.round(width * dots);
      canvas.height = Math.round(height * dots);
    }
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    context.setTransform(dots, 0, 0, dots, 0, 0);
    return context;
  }

  /**
   * @param {number} factor a factor below one zooms in
   * @param {{ x: number, y: number }} [at] the point that keeps its place
   * @param {'both' | 'time' | 'address'} [axis]
   */
  zoom(factor, at = { x: 0.5, y: 0 }, axis = 'both') {
    this.view.zoom(factor, at.x, at.y, axis);
    this.#moved();
  }

  #moved() {
    this.repaint();
    this.events.moved?.();
  }

  /** @param {number} highest address, in bytes */
  fit(highest) {
    this.view.fit(highest);
    this.#moved();
  }

  /**
   * Selects a tensor, highlights the tensors that overlap it in time, and moves to it.
   * @param {number} index -1 for none
   * @param {number} [step] the step to select
   */
  select(index, step) {
    const { scene, state } = this;
    state.selected = index;
    state.lit = index >= 0 ? scene.overlapping(index) : null;
    if (step !== undefined) {
      state.step = step;
    } else if (index >= 0 && (state.step < scene.first[index] || state.step > scene.last[index])) {
      state.step = scene.first[index];
    }
    if (index >= 0 && scene.placed[index] === 1) {
      this.view.reveal(scene.first[index], scene.last[index], scene.offset[index], scene.bytes[index]);
    }
    this.#moved();
  }

  /**
   * @param {MouseEvent} event
   * @returns {{ x: number, y: number, step: number, address: number, inside: boolean }}
   */
  #place(event) {
    const box = this.overlay.getBoundingClientRect();
    const left = event.clientX - box.left;
    const top = event.clientY - box.top;
    const painter = this.painter ?? new Painter(this.#context(this.base, box.width, box.height), box.width, box.height, this.scene, this.view);
    const x = (left - MARGIN.left) / painter.plotWidth;
    const y = (painter.bottom - top) / painter.plotHeight;
    return {
      x: Math.min(1, Math.max(0, x)),
      y: Math.min(1, Math.max(0, y)),
      step: Math.min(this.scene.steps - 1, Math.max(0, painter.stepAt(left))),
      address: painter.addressAt(top),
      inside: x >= 0 && x <= 1 && y >= 0 && y <= 1,
    };
  }

  /**
   * Zooms both axes or, if the pointer is over an axis, only that axis. With Shift, moves in time.
   * @param {WheelEvent} event
   */
  #wheel(event) {
    event.preventDefault();
    const at = this.#place(event);
    const box = this.overlay.getBoundingClientRect();
    const axis = event.clientX - box.left < MARGIN.left ? 'address' : event.clientY - box.top > box.height - MARGIN.bottom ? 'time' : 'both';
    if (event.shiftKey) {
      this.view.pan((event.deltaY + event.deltaX) / 800, 0);
      this.#moved();
    } else {
      this.zoom(Math.exp(Math.max(-240, Math.min(240, event.deltaY)) / 400), at, axis);
    }
  }

  /** @param {PointerEvent} event */
  #down(event) {
    this.overlay.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, event);
    this.dragged = 0;
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      const at = this.#place(event);
      this.#hover(at.inside ? this.scene.at(at.step, at.address) : -1, event);
      return;
    }
    const { plotWidth = 1, plotHeight = 1 } = this.painter ?? {};
    const others = [...this.pointers.values()].filter((pointer) => pointer.pointerId !== event.pointerId);
    if (others.length === 1) {
      const spread = (/** @type {PointerEvent} */ each) => Math.hypot(each.clientX - others[0].clientX, each.clientY - others[0].clientY);
      this.zoom(spread(before) / Math.max(1, spread(event)), this.#place(event));
    } else {
      this.view.pan((before.clientX - event.clientX) / plotWidth, (event.clientY - before.clientY) / plotHeight);
      this.#moved();
    }
    this.dragged += Math.abs(event.clientX - before.clientX) + Math.abs(event.clientY - before.clientY);
    this.pointers.set(event.pointerId, event);
    this.#hover(-1);
  }

  /** @param {PointerEvent} event */
  #up(event) {
    const wasDown = this.pointers.delete(event.pointerId);
    if (wasDown && this.dragged < 5) {
      const at = this.#place(event);
      const index = at.address >= 0 ? this.scene.at(at.step, at.address) : -1;
      this.#choose(index, at.step);
    }
  }

  /**
   * @param {number} index
   * @param {number} [step]
   */
  #choose(index, step) {
    this.select(index, step);
    this.events.choose?.(index, this.state.step);
  }

  /**
   * @param {number} index
   * @param {PointerEvent} [event]
   */
  #hover(index, event) {
    if (index !== this.hovered) {
      this.hovered = index;
      this.#paintOverlay();
      this.events.hover?.(index);
      this.tip.replaceChildren(...(index >= 0 ? tensorTip(this.scene, index) : []));
      this.tip.hidden = index < 0;
    }
    if (index >= 0 && event) {
      const box = this.element.getBoundingClientRect();
      const x = event.clientX - box.left;
      const y = event.clientY - box.top;
      const { offsetWidth, offsetHeight } = this.tip;
      this.tip.style.left = `${Math.max(0, Math.min(box.width - offsetWidth - 4, x + 16))}px`;
      this.tip.style.top = `${y + 18 + offsetHeight > box.height ? Math.max(0, y - offsetHeight - 12) : y + 18}px`;
    }
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const way = /** @type {const} */ ({ ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down' })[event.key];
    const moves = { left: [-0.1, 0], right: [0.1, 0], up: [0, 0.1], down: [0, -0.1] };
    if (way && event.shiftKey) {
      this.view.pan(moves[way][0], moves[way][1]);
      this.#moved();
    } else if (way) {
      this.#choose(this.scene.neighbour(this.state.selected, way));
    } else if (event.key === '+' || event.key === '=') {
      this.zoom(1 / ZOOM_STEP, this.#centre());
    } else if (event.key === '-') {
      this.zoom(ZOOM_STEP, this.#centre());
    } else if (event.key === '0') {
      this.fit(this.scene.totalBytes);
    } else if (event.key === 'p') {
      this.#choose(-1, this.scene.peak);
    } else if (event.key === 'Escape') {
      this.#choose(-1);
    } else {
      return;
    }
    event.preventDefault();
  }

  /**
   * @returns {{ x: number, y: number }} the point around which keys zoom: the selected tensor, if
   *   it is visible
   */
  #centre() {
    const { scene, state, view } = this;
    const i = state.selected;
    if (i < 0) {
      return { x: 0.5, y: 0.5 };
    }
    const x = ((scene.first[i] + scene.last[i] + 1) / 2 - view.left) / (view.right - view.left);
    const y = (scene.offset[i] + scene.bytes[i] / 2 - view.low) / (view.high - view.low);
    return { x: Math.min(1, Math.max(0, x)), y: Math.min(1, Math.max(0, y)) };
  }
}

/**
 * @param {Scene} scene
 * @param {number} index
 * @returns {Node[]}
 */
function tensorTip(scene, index) {
  const tensor = scene.tensors[index];
  return [
    el('strong', {}, named(tensor.name)),
    el('div', {}, `${bytes(tensor.bytes)} · ${scene.arrayType(index)}`),
    el('div', {}, `steps ${scene.stepNumber(scene.first[index])}–${scene.stepNumber(scene.last[index])} · at ${bytes(scene.offset[index])}`),
    el('div', { class: 'quiet' }, `${ownerOf(tensor.owner ?? 'arena').label}${usersOf(scene, tensor)}`),
  ];
}

/**
 * @param {Scene} scene
 * @param {any} tensor
 * @returns {string} the operator that makes the tensor and those that use it, the first few by name
 */
function usersOf(scene, tensor) {
  const made = Number.isInteger(tensor.producer) ? ` · from ${scene.operatorName(tensor.producer)}` : '';
  const consumers = tensor.consumers ?? [];
  const names = consumers.slice(0, MOST_CONSUMERS).map((each) => scene.operatorName(each)).join(', ');
  const more = consumers.length > MOST_CONSUMERS ? ` and ${count(consumers.length - MOST_CONSUMERS)} more` : '';
  return made + (names === '' ? '' : ` · used by ${names}${more}`);
}
