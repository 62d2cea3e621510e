/* Curves, drawn by uPlot in the page's colours, with arrow keys and the values as text. */

/**
 * @typedef {object} Line
 * @property {string} label
 * @property {(number | null)[]} values one for each x
 * @property {string} colour name
 * @property {boolean} [stepped] whether a value holds until the next x
 * @property {boolean} [fill]
 * @property {boolean} [points] points without a line
 * @property {boolean} [strong] larger points
 * @property {boolean} [dashed]
 * @property {boolean} [quiet] neither in the legend nor in the line of text
 */

/**
 * @typedef {object} ChartOptions
 * @property {string} title
 * @property {string} summary a description for people who cannot see the chart
 * @property {number[]} x ascending
 * @property {Line[]} lines
 * @property {string} xLabel
 * @property {string} yLabel
 * @property {(value: number) => string} xFormat
 * @property {(value: number) => string} yFormat
 * @property {'bytes' | 'time' | 'plain'} [xKind] determines the distances between ticks
 * @property {'bytes' | 'time' | 'plain'} [yKind]
 * @property {[number, number][]} [bands] pairs of lines with the space between them shaded
 * @property {[number, number]} [yRange]
 * @property {boolean} [padded] whether there is room beside the first and last x
 * @property {(context: CanvasRenderingContext2D, plot: any) => void} [draw] draws on top of the
 *   curves
 * @property {(index: number) => string} [read] the line of text for a point
 */

const CHART_HEIGHT = 260;
const CHART_FONT = '11px system-ui, sans-serif';

/**
 * @param {'bytes' | 'time' | 'plain' | undefined} kind
 * @param {number} room minimum distance between ticks in pixels
 * @returns {(plot: any, axis: number, low: number, high: number) => number[]}
 */
function splitter(kind, room) {
  return (plot, axis, low, high) => {
    const size = axis === 0 ? plot.bbox.width / devicePixelRatio : plot.bbox.height / devicePixelRatio;
    const most = Math.max(2, Math.floor(size / room));
    const step = kind === 'bytes' ? byteStep(high - low, most) : decimalStep(high - low, most);
    return ticks(low, high, step);
  };
}

class Chart {
  /** @param {ChartOptions} options */
  constructor(options) {
    this.options = options;
    const { lines, x } = options;
    this.stage = el('div', {
      class: 'chart',
      tabindex: '0',
      role: 'img',
      'aria-label': `${options.title}. ${options.summary}`,
      keydown: (event) => this.#key(event),
    });
    this.readout = el('p', { class: 'readout' }, options.summary);
    this.element = el(
      'figure',
      {},
      el('figcaption', {}, el('h3', {}, options.title)),
      lines.length > 1 &&
        legend(
          lines
            .filter((line) => !line.quiet)
            .map((line) => ({ label: line.label, colour: line.colour, look: line.points ? '' : line.dashed ? 'dashed' : 'line' })),
        ),
      this.stage,
      this.readout,
    );
    this.at = -1;
    new ResizeObserver(() => this.#resize()).observe(this.stage);
    themeListeners.add(() => this.plot?.redraw(false));
    this.data = [x, ...lines.map((line) => line.values)];
  }

  #resize() {
    const width = this.stage.clientWidth;
    if (width < 40) {
      return;
    }
    if (this.plot) {
      this.plot.setSize({ width, height: CHART_HEIGHT });
    } else {
      // @ts-ignore the library has only this global name
      this.plot = new uPlot(this.#definition(width), this.data, this.stage);
    }
  }

  /** @param {number} width */
  #definition(width) {
    const { options } = this;
    const axis = (label, kind, format, room, size) => ({
      label,
      labelSize: 18,
      labelFont: CHART_FONT,
      font: CHART_FONT,
      size,
      stroke: () => colour('quiet'),
      grid: { stroke: () => colour('line'), width: 1 },
      ticks: { stroke: () => colour('edge'), width: 1, size: 4 },
      splits: splitter(kind, room),
      values: (_, values) => values.map(format),
    });
    return {
      width,
      height: CHART_HEIGHT,
      padding: [10, 28, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { size: 7 } },
      scales: {
        x: { time: false, range: (_, low, high) => this.#across(low, high) },
        y: { range: options.yRange ?? ((_, low, high) => [Math.min(0, low), Math.max(high, 1e-9) * 1.08]) },
      },
      axes: [
        axis(options.xLabel, options.xKind, options.xFormat, 60, 30),
        axis(options.yLabel, options.yKind, options.yFormat, 36, 72),
      ],
      bands: (options.bands ?? []).map(([high, low]) => ({ series: [high + 1, low + 1], fill: () => translucent(options.lines[high].colour, 22) })),
      series: [{}, ...options.lines.map((line) => this.#series(line))],
      hooks: {
        setCursor: [(plot) => this.#read(plot.cursor.idx)],
        draw: [
          (plot) => {
            if (options.draw) {
              const { ctx, bbox } = plot;
              ctx.save();
              ctx.beginPath();
              ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
              ctx.clip();
              options.draw(ctx, plot);
              ctx.restore();
            }
          },
        ],
      },
    };
  }

  /**
   * @param {number} low
   * @param {number} high
   * @returns {[number, number]} the range of the axis
   */
  #across(low, high) {
    const pad = low === high ? Math.max(1, high / 10) : this.options.padded ? (high - low) / 25 : 0;
    return [Math.max(0, low - pad), high + pad];
  }

  /** @param {Line} line */
  #series(line) {
    // @ts-ignore the library has only this global name
    const { stepped } = uPlot.paths;
    return {
      label: line.label,
      stroke: () => (line.quiet ? 'transparent' : colour(line.colour)),
      fill: line.fill ? () => translucent(line.colour, 24) : undefined,
      width: line.quiet ? 0 : 2,
      dash: line.dashed ? [6, 4] : undefined,
      paths: line.points ? () => null : line.stepped ? stepped({ align: 1 }) : undefined,
      points: line.points ? { show: true, size: line.strong ? 14 : 8, fill: () => colour(line.colour) } : { show: false },
      spanGaps: true,
    };
  }

  /** @param {number | null | undefined} index */
  #read(index) {
    const { x, lines, xFormat, yFormat, summary, read } = this.options;
    if (index === null || index === undefined) {
      this.readout.textContent = summary;
      return;
    }
    this.at = index;
    if (read) {
      this.readout.textContent = read(index);
    } else {
      const values = lines
        .filter((line) => !line.quiet && line.values[index] !== null && line.values[index] !== undefined)
        .map((line) => `${line.label} ${yFormat(Number(line.values[index]))}`);
      this.readout.textContent = `${xFormat(x[index])}: ${values.join(', ')}`;
    }
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by !== 0 && this.plot) {
      event.preventDefault();
      const { x } = this.options;
      const at = Math.min(x.length - 1, Math.max(0, this.at + by));
      this.plot.setCursor({ left: this.plot.valToPos(x[at], 'x'), top: 0 });
      this.#read(at);
      announce(this.readout.textContent ?? '');
    }
  }

  redraw() {
    this.plot?.redraw(false);
  }
}
