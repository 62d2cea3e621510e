/* The view of budgets: how much slower the model is with less memory. */

const MIB = 1024 * 1024;
const MOST_REFUSED = 12;

/**
 * @param {any} report
 * @returns {HTMLElement}
 */
function budgetView(report) {
  if (!report.budget || report.budget.points.length === 0) {
    return emptyState('No budgets were tried.', 'djlplan report MODEL --html FILE --budgets 1/2,1/4,1/8');
  }
  return new BudgetView(report.budget).element;
}

class BudgetView {
  /** @param {any} budget */
  constructor(budget) {
    this.budget = budget;
    this.points = [...budget.points].sort((a, b) => a.budgetBytes - b.budgetBytes);
    this.at = Math.max(0, this.points.findIndex((point) => !refusal(point)));
    this.facts = el('div', { class: 'budget-facts', 'aria-live': 'polite' });
    this.resident = el('div');
    this.slider = el('input', {
      type: 'range',
      id: 'budget-slider',
      min: '0',
      max: String(this.points.length - 1),
      step: '1',
      value: String(this.at),
      input: () => this.show(Number(this.slider.value)),
    });
    this.value = el('output', { for: 'budget-slider', class: 'budget-value' });
    this.curve = this.#curve();
    this.element = el(
      'div',
      {},
      el(
        'section',
        { class: 'panel slider' },
        el('label', { for: 'budget-slider' }, 'Budget'),
        this.slider,
        this.value,
      ),
      el('div', { class: 'columns' }, el('section', { class: 'panel' }, this.curve.element, this.#refused()), el('section', { class: 'panel' }, el('h2', {}, 'At this budget'), this.facts)),
      this.resident,
      this.#table(),
    );
    this.show(this.at);
  }

  #curve() {
    const { points, budget } = this;
    const of = (/** @type {string} */ key) => points.map((point) => (refusal(point) ? null : point[key] ?? null));
    const served = points.filter((point) => !refusal(point));
    const lowest = served[0];
    const stock = Number.isFinite(budget.stockPeakBytes) ? `Stock needs ${bytes(budget.stockPeakBytes)}. ` : '';
    return new Chart({
      title: 'Latency at each budget, as a multiple of stock',
      summary: `${stock}${lowest ? `The smallest budget that works here is ${bytes(lowest.budgetBytes)}${Number.isFinite(lowest.latencyRatio) ? ` at ${ratio(lowest.latencyRatio)}` : ''}.` : 'None of these budgets works.'}`,
      x: points.map((point) => point.budgetBytes),
      xLabel: 'budget',
      yLabel: 'latency / stock',
      xFormat: bytes,
      yFormat: (value) => `× ${digits(value)}`,
      xKind: 'bytes',
      padded: true,
      lines: [
        { label: 'latency', values: of('latencyRatio'), colour: 'arena' },
        { label: 'low', values: of('lowRatio'), colour: 'arena', quiet: true },
        { label: 'high', values: of('highRatio'), colour: 'arena', quiet: true },
        { label: 'tried', values: of('latencyRatio'), colour: 'arena', points: true, quiet: true },
      ],
      bands: [[2, 1]],
      draw: (context, plot) => this.#drawPoints(context, plot),
      read: (i) => this.#sentence(points[i]),
    });
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {any} plot
   */
  #drawPoints(context, plot) {
    const one = plot.valToPos(1, 'y', true);
    context.fillStyle = colour('bound');
    for (let x = plot.bbox.left; x < plot.bbox.left + plot.bbox.width; x += 10 * devicePixelRatio) {
      context.fillRect(x, one, 6 * devicePixelRatio, 1.5 * devicePixelRatio);
    }
    this.points.forEach((point, i) => {
      const x = plot.valToPos(point.budgetBytes, 'x', true);
      if (i === this.at) {
        context.fillStyle = translucent('curve', 70);
        context.fillRect(x - devicePixelRatio, plot.bbox.top, 2 * devicePixelRatio, plot.bbox.height);
      }
      if (!refusal(point) && Number.isFinite(point.latencyRatio)) {
        context.beginPath();
        context.arc(x, plot.valToPos(point.latencyRatio, 'y', true), (i === this.at ? 6 : 4) * devicePixelRatio, 0, 2 * Math.PI);
        context.fillStyle = colour(i === this.at ? 'curve' : 'arena');
        context.fill();
      } else if (refusal(point)) {
        cross(context, x, plot.bbox.top + plot.bbox.height - 10 * devicePixelRatio, 5 * devicePixelRatio);
      }
    });
  }

  /**
   * @returns {HTMLElement | false} the refused budgets, which are drawn as crosses; false if none
   */
  #refused() {
    const refused = this.points.filter((point) => refusal(point));
    const names = refused.slice(0, MOST_REFUSED).map(budgetName).join(', ');
    const more = refused.length > MOST_REFUSED ? ` and ${count(refused.length - MOST_REFUSED)} more` : '';
    return refused.length > 0 && el('p', { class: 'refused' }, `× refused: ${names}${more}`);
  }

  /** @param {any} point */
  #sentence(point) {
    return refusal(point)
      ? `${bytes(point.budgetBytes)}: refused, ${shortened(refusal(point), 200)}`
      : `${bytes(point.budgetBytes)}: ${spread(point)}`;
  }

  /** @param {number} at */
  show(at) {
    const { points } = this;
    const point = points[at];
    this.at = at;
    this.value.textContent = budgetName(point);
    this.slider.setAttribute('aria-valuetext', this.#sentence(point));
    this.facts.replaceChildren(
      refusal(point)
        ? el('p', { class: 'bad' }, 'Refused: ', shortened(refusal(point), 600))
        : factList([
            ['latency', spread(point)],
            ['peak', Number.isFinite(point.peakBytes) && exactBytes(point.peakBytes)],
            ['of stock', Number.isFinite(point.peakBytes) && this.budget.stockPeakBytes > 0 && `${Math.round((100 * point.peakBytes) / this.budget.stockPeakBytes)} % of its peak`],
            ['waiting for weights', Number.isFinite(point.stallNanos) && `${time(point.stallNanos)} of a prediction`],
            ['what binds', point.binds && shortened(point.binds)],
            ['weights kept', Number.isFinite(point.pinnedBytes) && exactBytes(point.pinnedBytes)],
            ['sliced', slicedText(point.sliced)],
            ['the next MiB buys', this.#nextMegabyte(at)],
          ]),
    );
    this.resident.replaceChildren(residentPanel(point));
    this.curve.redraw();
  }

  /**
   * @param {number} at
   * @returns {string | null}
   */
  #nextMegabyte(at) {
    const here = this.points[at];
    const next = this.points.slice(at + 1).find((point) => !refusal(point) && Number.isFinite(point.latencyRatio));
    if (!next || !Number.isFinite(here.latencyRatio) || next.budgetBytes <= here.budgetBytes) {
      return null;
    }
    if (Number.isFinite(here.lowRatio) && Number.isFinite(next.highRatio) && here.lowRatio <= next.highRatio && next.lowRatio <= here.highRatio) {
      return `nothing that could be told from noise, on the way to ${bytes(next.budgetBytes)}`;
    }
    const change = ((next.latencyRatio - here.latencyRatio) / (next.budgetBytes - here.budgetBytes)) * MIB;
    const relative = (100 * change) / here.latencyRatio;
    const words = Math.abs(relative) < 0.005 ? 'nothing' : `${relative < 0 ? '−' : '+'}${digits(Math.abs(relative))} % latency`;
    return `${words}, on the way to ${bytes(next.budgetBytes)}`;
  }

  #table() {
    return foldedTable(
      'Budgets',
      [
        { title: 'Budget', head: true, number: true, cell: (each) => budgetName(each), sort: (each) => each.budgetBytes },
        { title: 'Peak', number: true, cell: (each) => (Number.isFinite(each.peakBytes) ? bytes(each.peakBytes) : '–'), sort: (each) => each.peakBytes ?? -1 },
        { title: 'Latency', number: true, cell: (each) => (Number.isFinite(each.latencyRatio) ? ratio(each.latencyRatio) : '–'), sort: (each) => each.latencyRatio ?? -1 },
        { title: 'Low', number: true, cell: (each) => (Number.isFinite(each.lowRatio) ? ratio(each.lowRatio) : '–') },
        { title: 'High', number: true, cell: (each) => (Number.isFinite(each.highRatio) ? ratio(each.highRatio) : '–') },
        { title: 'Stalls', number: true, cell: (each) => (Number.isFinite(each.stallNanos) ? time(each.stallNanos) : '–'), sort: (each) => each.stallNanos ?? -1 },
        { title: 'Kept', number: true, cell: (each) => (Number.isFinite(each.pinnedBytes) ? bytes(each.pinnedBytes) : '–') },
        { title: 'What binds', cell: (each) => (refusal(each) ? wholeName(refusal(each)) : each.binds ? named(each.binds) : '–') },
      ],
      this.points,
    );
  }
}

/**
 * @param {any} point
 * @returns {string} the reason why there is no latency; empty if there is one
 */
function refusal(point) {
  return point.refused ?? '';
}

/** @param {any} point */
function budgetName(point) {
  return `${typeof point.name === 'string' ? `${shortened(point.name, 20)} · ` : ''}${bytes(point.budgetBytes)}`;
}

/** @param {any} point */
function spread(point) {
  const range = Number.isFinite(point.lowRatio) && Number.isFinite(point.highRatio) ? ` (${point.lowRatio.toFixed(3)} to ${point.highRatio.toFixed(3)})` : '';
  return Number.isFinite(point.latencyRatio) ? `${ratio(point.latencyRatio)} of stock${range}` : 'not measured';
}

/** @param {any} sliced */
function slicedText(sliced) {
  if (sliced === undefined || sliced === null || sliced === false || sliced === 0) {
    return null;
  }
  return sliced === true ? 'large layers run in slices' : typeof sliced === 'number' ? counted(sliced, 'layer') : shortened(String(sliced));
}

/** @param {any} point */
function residentPanel(point) {
  const { resident } = point;
  if (!resident || resident.nanos.length === 0) {
    return emptyState('Which weights are in memory over time is not known for this budget.', '');
  }
  const loads = resident.loads ?? [];
  const evictions = resident.evictions ?? [];
  const stalls = resident.stalls ?? [];
  const highest = resident.bytes.reduce((a, b) => Math.max(a, b), 0);
  const chart = new Chart({
    title: 'Weights in memory over one prediction',
    summary: `At most ${bytes(highest)}; ${counted(loads.length, 'load')}, ${counted(evictions.length, 'eviction')}, ${counted(stalls.length, 'stall')}.`,
    x: resident.nanos,
    xLabel: 'time',
    yLabel: 'weights in memory',
    xFormat: time,
    yFormat: bytes,
    xKind: 'time',
    yKind: 'bytes',
    lines: [{ label: 'weights in memory', values: resident.bytes, colour: 'packed', stepped: true, fill: true }],
    draw: (context, plot) => {
      const x = (/** @type {number} */ at) => plot.valToPos(at, 'x', true);
      const { top, height } = plot.bbox;
      const dot = devicePixelRatio;
      context.fillStyle = translucent('unplanned', 35);
      stalls.forEach((stall) => context.fillRect(x(stall.at), top, Math.max(dot, x(stall.at + (stall.nanos ?? 0)) - x(stall.at)), height));
      context.fillStyle = colour('accent');
      loads.forEach((load) => triangle(context, x(load.at), top + height, -9 * dot));
      context.fillStyle = colour('unplanned');
      evictions.forEach((eviction) => triangle(context, x(eviction.at), top, 9 * dot));
    },
  });
  return el(
    'section',
    { class: 'panel' },
    chart.element,
    legend([
      ...(loads.length > 0 ? [{ label: 'a load, from below', colour: 'accent' }] : []),
      ...(evictions.length > 0 ? [{ label: 'an eviction, from above', colour: 'unplanned' }] : []),
      ...(stalls.length > 0 ? [{ label: 'a stall, shaded', colour: 'unplanned', look: /** @type {const} */ ('faint') }] : []),
    ]),
    foldedTable(
      'Loads and evictions',
      [
        { title: 'At', head: true, number: true, cell: (each) => time(each.event.at), sort: (each) => each.event.at },
        { title: 'What', cell: (each) => each.what, sort: (each) => each.what },
        { title: 'Bytes', number: true, cell: (each) => (Number.isFinite(each.event.bytes) ? count(each.event.bytes) : '–'), sort: (each) => each.event.bytes ?? -1 },
        { title: 'Weights', cell: (each) => (each.event.name ? named(each.event.name) : each.event.nanos ? time(each.event.nanos) : '–') },
      ],
      [
        ...loads.map((event) => ({ what: 'load', event })),
        ...evictions.map((event) => ({ what: 'eviction', event })),
        ...stalls.map((event) => ({ what: 'stall', event })),
      ].sort((a, b) => a.event.at - b.event.at),
    ),
  );
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y of its base
 * @param {number} height negative for upwards
 */
function triangle(context, x, y, height) {
  const half = Math.abs(height) / 2;
  context.beginPath();
  context.moveTo(x - half, y);
  context.lineTo(x + half, y);
  context.lineTo(x, y + height);
  context.fill();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x of its middle
 * @param {number} y of its middle
 * @param {number} half of its width
 */
function cross(context, x, y, half) {
  context.strokeStyle = colour('bad');
  context.lineWidth = 2 * devicePixelRatio;
  context.beginPath();
  context.moveTo(x - half, y - half);
  context.lineTo(x + half, y + half);
  context.moveTo(x - half, y + half);
  context.lineTo(x + half, y - half);
  context.stroke();
}
