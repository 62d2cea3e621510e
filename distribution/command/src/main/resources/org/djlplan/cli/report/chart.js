/* Curves and points, drawn by uPlot in the page's colours. Arrow keys walk along the values. */

const CHART_FONT = '11px system-ui, sans-serif';
const POWERS_OF_TWO = Array.from({ length: 50 }, (_, i) => 2 ** i);

/** Returns an axis for uPlot. Ticks of sizes are powers of two apart, so that their labels are short. */
function axis(label, format, options) {
  return {
    label,
    labelSize: 18,
    labelFont: CHART_FONT,
    font: CHART_FONT,
    stroke: () => colour('quiet'),
    grid: { stroke: () => colour('line'), width: 1 },
    ticks: { stroke: () => colour('edge'), width: 1, size: 4 },
    incrs: format === bytes ? POWERS_OF_TWO : undefined,
    values: (_, ticks) => ticks.map((tick) => (tick === null ? '' : format(tick))),
    ...options,
  };
}

/** Makes a plot as soon as its stage has a width, and keeps it as wide as the stage. */
class Plot {
  constructor(stage, height, data, definition) {
    const fit = () => {
      const width = stage.clientWidth;
      if (width < 40) {
        return;
      }
      if (this.plot) {
        this.plot.setSize({ width, height: height() });
      } else {
        this.plot = new uPlot({ legend: { show: false }, ...definition, width, height: height() }, data, stage);
      }
    };
    new ResizeObserver(fit).observe(stage);
    const recolour = () => (stage.isConnected ? this.redraw() : themeListeners.delete(recolour));
    themeListeners.add(recolour);
  }

  redraw() {
    this.plot?.redraw(false);
  }
}

/**
 * Draws on a plot in CSS pixels, by default only inside its axes. The places of values are
 * computed by the functions x and y; the box is the area inside the axes.
 */
function paint(plot, draw, inside = true) {
  const { ctx, bbox } = plot;
  const dots = devicePixelRatio;
  const place = (scale) => (value) => plot.valToPos(value, scale, true) / dots;
  ctx.save();
  ctx.scale(dots, dots);
  ctx.font = CHART_FONT;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'alphabetic';
  const box = { left: bbox.left / dots, top: bbox.top / dots, width: bbox.width / dots, height: bbox.height / dots };
  if (inside) {
    ctx.beginPath();
    ctx.rect(box.left, box.top, box.width, box.height);
    ctx.clip();
  }
  draw(ctx, place('x'), place('y'), box);
  ctx.restore();
}

/**
 * A chart with a title, a legend, and a line of text for the value that a pointer or key selects.
 *
 * Its options are title, summary, x (ascending), lines, xLabel, yLabel, xFormat, yFormat, and
 * optionally xRange, yRange, padded, bands (pairs of lines with the space between them shaded), draw (see
 * paint), read (the text for an index), height, padding, keys (entries of the
 * legend), axes and cursor. A
 * line has a label, values, a colour and, optionally, stepped, fill, points, strong, dashed, quiet.
 */
class Chart {
  constructor(options) {
    const { title, summary, x, lines, height = 260 } = options;
    this.options = options;
    this.at = -1;
    const label = `${title}. ${summary}`;
    const stage = el('div', { class: 'chart', tabindex: '0', role: 'img', 'aria-label': label, keydown: (event) => this.#key(event) });
    stage.style.height = `${height}px`;
    this.readout = el('p', { class: 'readout' }, summary);
    const keys = options.keys ?? lines.filter((line) => !line.quiet).map((line) => ({ ...line, look: line.points ? '' : line.dashed ? 'dashed' : 'line' }));
    this.element = el('figure', {}, el('figcaption', {}, el('h3', {}, title)), (keys.length > 1 || lines.length > 1) && legend(keys), stage, this.readout);
    this.plot = new Plot(stage, () => height, [x, ...lines.map((line) => line.values)], this.#definition());
  }

  #definition() {
    const { lines, xLabel, yLabel, xFormat, yFormat, padded, yRange, bands = [], draw, padding = [10, 28, 0, 0] } = this.options;
    const across = (_, low, high) => {
      const pad = low === high ? Math.max(1, high / 10) : padded ? (high - low) / 25 : 0;
      return [Math.max(0, low - pad), high + pad];
    };
    return {
      padding,
      cursor: { drag: { x: false, y: false }, points: { size: 7 }, ...this.options.cursor },
      scales: {
        x: { time: false, range: this.options.xRange ?? across },
        y: { range: yRange ?? ((_, low, high) => [Math.min(0, low), Math.max(high, 1e-9) * 1.08]) },
      },
      axes: this.options.axes ?? [axis(xLabel, xFormat, { size: 30, space: 60 }), axis(yLabel, yFormat, { size: 72, space: 36 })],
      bands: bands.map(([high, low]) => ({ series: [high + 1, low + 1], fill: () => translucent(lines[high].colour, 22) })),
      series: [{}, ...lines.map(seriesOf)],
      hooks: {
        setCursor: [(plot) => this.#read(plot.cursor.idx)],
        draw: [(plot) => draw && paint(plot, draw)],
      },
    };
  }

  #read(index) {
    const { x, lines, xFormat, yFormat, summary, read } = this.options;
    if (index === null || index === undefined) {
      this.readout.textContent = summary;
      return;
    }
    this.at = index;
    const values = lines
      .filter((line) => !line.quiet && Number.isFinite(line.values[index]))
      .map((line) => `${line.label} ${yFormat(line.values[index])}`);
    this.readout.textContent = read ? read(index) : `${xFormat(x[index])}: ${values.join(', ')}`;
  }

  #key(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const { plot } = this.plot;
    if (by && plot) {
      event.preventDefault();
      const { x } = this.options;
      const at = Math.min(x.length - 1, Math.max(0, this.at + by));
      plot.setCursor({ left: plot.valToPos(x[at], 'x'), top: 0 });
      this.#read(at);
      announce(this.readout.textContent);
    }
  }

  redraw() {
    this.plot.redraw();
  }
}

function seriesOf(line) {
  return {
    stroke: () => (line.quiet ? 'transparent' : colour(line.colour)),
    fill: line.fill && (() => translucent(line.colour, 24)),
    width: line.quiet ? 0 : 2,
    dash: line.dashed && [6, 4],
    paths: line.points ? () => null : line.stepped ? uPlot.paths.stepped({ align: 1 }) : undefined,
    points: line.points ? { show: true, size: line.strong ? 14 : 8, fill: () => colour(line.colour) } : { show: false },
    spanGaps: true,
  };
}
