/* A model's operators as a band, coloured by where they run. */

const BAND_HEIGHT = 46;
const PARTITION_HEIGHT = 15;

/** @param {any} operator */
function runsDelegated(operator) {
  return operator.runs === 'delegate';
}

/**
 * @param {any} operator
 * @returns {string}
 */
function operatorSentence(operator) {
  const nanos = Number.isFinite(operator.nanos) ? `, ${time(operator.nanos)}` : '';
  const partition = Number.isInteger(operator.partition) ? `, partition ${operator.partition + 1}` : '';
  const reason = operator.reason ? ` – ${shortened(operator.reason, 400)}` : '';
  return `${count(operator.index)} ${shortened(operator.type, 60)}: ${runsDelegated(operator) ? 'delegate' : 'CPU'}${partition}${nanos}${reason}`;
}

class Band {
  /**
   * @param {any[]} operators
   * @param {any[]} partitions
   */
  constructor(operators, partitions) {
    this.operators = operators;
    this.partitions = partitions;
    this.position = new Map(operators.map((operator, i) => [operator.index, i]));
    this.at = -1;
    this.width = 0;
    this.canvas = el('canvas', {
      tabindex: '0',
      role: 'application',
      'aria-roledescription': 'band of operators',
      'aria-label': `Operators by where they run: ${counted(operators.filter(runsDelegated).length, 'operator')} of ${operators.length} in the delegate. Arrows walk along them.`,
      pointermove: (event) => this.#point(event),
      click: (event) => this.#point(event),
      keydown: (event) => this.#key(event),
    });
    this.readout = el('p', { class: 'readout', role: 'status' }, 'Point at an operator, or walk with the arrow keys, to read why it runs where it runs.');
    this.element = el('div', { class: 'band' }, this.canvas, this.readout);
    new ResizeObserver(() => this.paint()).observe(this.element);
    themeListeners.add(() => this.paint());
  }

  /** @param {number} i */
  #x(i) {
    return (i * this.width) / Math.max(1, this.operators.length);
  }

  paint() {
    this.width = this.element.clientWidth;
    if (this.width < 20) {
      return;
    }
    const height = BAND_HEIGHT + PARTITION_HEIGHT + 20;
    const dots = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * dots);
    this.canvas.height = Math.round(height * dots);
    this.canvas.style.height = `${height}px`;
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext('2d'));
    context.setTransform(dots, 0, 0, dots, 0, 0);
    this.operators.forEach((operator, i) => {
      const x = Math.round(this.#x(i));
      const width = Math.max(1, Math.round(this.#x(i + 1)) - x);
      context.fillStyle = colour(runsDelegated(operator) ? 'packed' : 'mapped', i === this.at ? 0 : 1 - (i % 2));
      context.fillRect(x, 6, width > 4 ? width - 1 : width, BAND_HEIGHT);
    });
    context.font = SMALL;
    context.textBaseline = 'top';
    this.partitions.forEach((partition, number) => this.#partition(context, partition, number));
    if (this.at >= 0) {
      const x = this.#x(this.at);
      context.strokeStyle = colour('ink');
      context.lineWidth = 2.5;
      context.strokeRect(x, 5, Math.max(3, this.#x(this.at + 1) - x), BAND_HEIGHT + 2);
    }
  }

  /**
   * Draws a line under a partition's operators, and the partition's number if there is room.
   * @param {CanvasRenderingContext2D} context
   * @param {any} partition
   * @param {number} number
   */
  #partition(context, partition, number) {
    const places = partition.operators.map((index) => this.position.get(index)).filter((place) => place !== undefined).sort((a, b) => a - b);
    context.fillStyle = colour('ink');
    for (let i = 0; i < places.length; ) {
      let end = i;
      while (end + 1 < places.length && places[end + 1] === places[end] + 1) {
        end++;
      }
      const left = this.#x(places[i]) + 1;
      const right = this.#x(places[end] + 1) - 1;
      context.fillRect(left, BAND_HEIGHT + 11, Math.max(1, right - left), 2);
      if (i === 0 && right - left > 12) {
        context.textAlign = 'center';
        context.fillText(String(number + 1), (left + right) / 2, BAND_HEIGHT + PARTITION_HEIGHT + 2);
      }
      i = end + 1;
    }
  }

  /** @param {MouseEvent} event */
  #point(event) {
    const x = event.clientX - this.canvas.getBoundingClientRect().left;
    this.select(Math.floor((x * this.operators.length) / Math.max(1, this.width)));
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by !== 0) {
      event.preventDefault();
      this.select(this.at + by);
    }
  }

  /** @param {number} i */
  select(i) {
    const at = Math.max(0, Math.min(this.operators.length - 1, i));
    if (at !== this.at) {
      this.at = at;
      this.readout.textContent = operatorSentence(this.operators[at]);
      this.paint();
    }
  }
}
