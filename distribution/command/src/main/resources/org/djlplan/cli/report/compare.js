/* Two reports side by side, at one scale. */

class CompareView {
  /** @param {any[]} reports two */
  constructor(reports) {
    this.reports = reports;
    this.scale = Math.max(...reports.map((report) => bestStrategy(report.plan).totalBytes));
    this.extent = Math.max(...reports.flatMap((report) => report.plan.strategies.map((strategy) => strategy.totalBytes)));
    this.sides = reports.map((report, i) => this.#side(report, i));
    this.element = el(
      'div',
      {},
      el('div', { class: 'columns compare' }, this.sides.map((side) => side.element)),
      el('p', { class: 'hint' }, 'Both maps have one scale and move together. A tensor that is chosen in one is looked for by name in the other.'),
      differencePanel(reports),
      strategyDifferences(reports),
      tensorDifferences(reports),
    );
  }

  /**
   * @param {any} report
   * @param {number} i
   */
  #side(report, i) {
    const letter = 'AB'[i];
    const { plan } = report;
    const best = bestStrategy(plan);
    const scene = new Scene(plan, best);
    const view = new Viewport(scene.steps, this.extent);
    view.fit(this.scale);
    const panel = new MapPanel(scene, view, `Memory map of ${letter}, ${shortened(titleOf(report))}`, {
      choose: (index) => this.#chosen(i, index),
      moved: () => this.#moved(i),
    });
    panel.state.boundBytes = boundOf(plan, best);
    const size = el('span', { class: 'plan-size' });
    const choose = (/** @type {any} */ strategy) => {
      panel.state.boundBytes = boundOf(plan, strategy);
      panel.show(new Scene(plan, strategy));
      size.textContent = bytes(strategy.totalBytes);
    };
    const select = el(
      'select',
      { 'aria-label': `Plan of ${letter}`, change: () => choose(plan.strategies[select.selectedIndex]) },
      plan.strategies.map((strategy) => el('option', {}, shortened(strategy.name, 40))),
    );
    select.selectedIndex = plan.strategies.indexOf(best);
    size.textContent = bytes(best.totalBytes);
    panel.element.classList.add('small');
    const facts = el('p', { class: 'readout' });
    const element = el(
      'section',
      { class: 'panel' },
      el('h2', {}, `${letter}: `, wholeName(titleOf(report))),
      about(report),
      el('div', { class: 'toolbar' }, select, size, best.provedMinimal && minimalBadge(false)),
      panel.element,
      facts,
    );
    return { report, panel, view, element, facts };
  }

  /**
   * @param {number} i
   * @param {number} index
   */
  #chosen(i, index) {
    const side = this.sides[i];
    const other = this.sides[1 - i];
    announceTensor(side.panel, index);
    side.facts.textContent = tensorLine(side.panel, index);
    if (index < 0) {
      other.panel.select(-1);
      other.facts.textContent = '';
      return;
    }
    const { name } = side.panel.scene.tensors[index];
    const twin = other.panel.scene.tensors.findIndex((tensor) => tensor.name === name);
    other.panel.select(twin);
    other.facts.textContent = twin >= 0 ? tensorLine(other.panel, twin) : 'No tensor of this name.';
  }

  /** @param {number} i the report whose viewport the other one takes over */
  #moved(i) {
    if (!this.sides || this.moving) {
      return;
    }
    this.moving = true;
    const from = this.sides[i].view;
    const other = this.sides[1 - i];
    const { view } = other;
    view.left = (from.left / from.steps) * view.steps;
    view.right = (from.right / from.steps) * view.steps;
    view.low = from.low;
    view.high = from.high;
    other.panel.repaint();
    this.moving = false;
  }
}

/**
 * @param {MapPanel} panel
 * @param {number} index
 * @returns {string}
 */
function tensorLine(panel, index) {
  const { scene } = panel;
  if (index < 0) {
    return '';
  }
  const tensor = scene.tensors[index];
  return `${shortened(tensor.name, 60)}: ${bytes(tensor.bytes)}, steps ${scene.first[index]}–${scene.last[index]}, at ${bytes(scene.offset[index])}`;
}

/**
 * @param {(value: number) => string} format
 * @returns {(a: number | undefined, b: number | undefined) => string[]} the cells: A, B, and the
 *   change
 */
function changed(format) {
  return (a, b) => {
    const change = a === undefined || b === undefined ? '–' : a === b ? 'same' : a > 0 ? ratio(b / a) : '–';
    return [a === undefined ? '–' : format(a), b === undefined ? '–' : format(b), change];
  };
}

const DIFFERENCE_COLUMNS = [
  { title: 'Figure', head: true, cell: (row) => row.name },
  { title: 'A', number: true, cell: (row) => row.values[0] },
  { title: 'B', number: true, cell: (row) => row.values[1] },
  { title: 'B / A', number: true, cell: (row) => row.values[2] },
];

function differencePanel(reports) {
  const [a, b] = reports;
  const inBytes = changed(bytes);
  const inTime = changed(time);
  const plain = changed(count);
  const best = reports.map((report) => bestStrategy(report.plan));
  const rows = [
    { name: 'arena', values: inBytes(best[0].totalBytes, best[1].totalBytes) },
    { name: 'lower bound', values: inBytes(boundOf(a.plan, best[0]), boundOf(b.plan, best[1])) },
    { name: 'each tensor by itself', values: inBytes(naiveBytes(a.plan), naiveBytes(b.plan)) },
    { name: 'tensors', values: plain(plannedTensors(a.plan), plannedTensors(b.plan)) },
    { name: 'operators', values: plain(a.plan.operators.length, b.plan.operators.length) },
    { name: 'model file', values: inBytes(a.model?.bytes ?? undefined, b.model?.bytes ?? undefined) },
    ...merged(reports, (report) => (report.memory ?? []).map((part) => [ownerOf(part.owner).label, part.bytes])).map(({ name, of }) => ({
      name: `memory: ${name}`,
      values: inBytes(of[0], of[1]),
    })),
    ...merged(reports, (report) =>
      (report.run?.ways ?? []).filter((way) => way.latencyNanos?.length > 0).map((way) => [way.name, quantile(way.latencyNanos, 0.5)]),
    ).map(({ name, of }) => ({ name: `median latency, ${shortened(name, 40)}`, values: inTime(of[0], of[1]) })),
    {
      name: 'chosen candidate’s latency',
      values: inTime(chosenLatency(a), chosenLatency(b)),
    },
  ].filter((row) => row.values[0] !== '–' || row.values[1] !== '–');
  return el('section', { class: 'panel' }, table('Differences', DIFFERENCE_COLUMNS, rows));
}

/** @param {any} report */
function chosenLatency(report) {
  return report.delegation?.candidates?.find((candidate) => candidate.chosen)?.latencyNanos;
}

/**
 * @param {any[]} reports two
 * @param {(report: any) => [string, number][]} entries
 * @returns {{ name: string, of: (number | undefined)[] }[]} by name, in order of appearance
 */
function merged(reports, entries) {
  /** @type {Map<string, (number | undefined)[]>} */
  const all = new Map();
  reports.forEach((report, i) => {
    for (const [name, value] of entries(report)) {
      const both = all.get(name) ?? [undefined, undefined];
      both[i] = value;
      all.set(name, both);
    }
  });
  return [...all].map(([name, of]) => ({ name, of }));
}

function strategyDifferences(reports) {
  const rows = merged(reports, (report) => report.plan.described.map((strategy) => [strategy.name, strategy.totalBytes]));
  const values = changed(bytes);
  return foldedTable(
    'Plans of both',
    [{ ...DIFFERENCE_COLUMNS[0], cell: (row) => named(row.name) }, ...DIFFERENCE_COLUMNS.slice(1)],
    rows.map(({ name, of }) => ({ name, values: values(of[0], of[1]) })),
  );
}

/** Returns a table of the tensors that only one report has, or that differ in size. */
function tensorDifferences(reports) {
  const rows = merged(reports, (report) => report.plan.tensors.map((tensor) => [tensor.name, tensor.bytes])).filter(({ of }) => of[0] !== of[1]);
  const values = changed(bytes);
  return foldedTable(
    'Tensors that differ',
    [{ ...DIFFERENCE_COLUMNS[0], cell: (row) => named(row.name) }, ...DIFFERENCE_COLUMNS.slice(1)],
    rows.map(({ name, of }) => ({ name, values: values(of[0], of[1]) })),
  );
}
