/* Two reports side by side, at one scale. */

function compareView(reports) {
  const shown = Math.max(...reports.map((report) => bestStrategy(report.plan).totalBytes));
  const all = Math.max(...reports.map((report) => largestBytes(report.plan)));
  const lines = reports.map(() => el('p', { class: 'readout' }));
  const maps = reports.map(
    (report, i) =>
      new MemoryMap(report.plan, `Memory map of ${'AB'[i]}, ${shortened(titleOf(report))}`, {
        shown,
        all,
        choose: () => selectTwin(i),
        moved: () => follow(i),
      }),
  );

  /** Selects the tensor of the same name in the other map. */
  function selectTwin(i) {
    const [map, other] = [maps[i], maps[1 - i]];
    const { selected } = map;
    const twin = selected && (other.boxes.find((box) => box.tensor.name === selected.tensor.name) ?? null);
    announceTensor(map);
    other.select(twin);
    lines[i].textContent = tensorLine(map);
    lines[1 - i].textContent = selected && !twin ? 'No tensor of this name.' : tensorLine(other);
  }

  /** Shows the same part of time and addresses in the other map. */
  function follow(i) {
    const [from, to] = [maps[i], maps[1 - i]];
    const scale = to.time.size / from.time.size;
    to.time.show(from.time.from * scale, from.time.length * scale);
    to.address.show(from.address.from, from.address.length);
    to.repaint();
  }

  return el(
    'div',
    {},
    el('div', { class: 'columns compare' }, reports.map((report, i) => side(report, 'AB'[i], maps[i], lines[i]))),
    el('p', { class: 'hint' }, 'Both maps have one scale and move together. A tensor that is chosen in one is looked for by name in the other.'),
    panel(table('Differences', plainColumns(['Figure', 'A', 'B', 'B / A']), differences(reports))),
    differenceTable('Plans of both', merged(reports, ({ plan }) => plan.described.map((strategy) => [strategy.name, strategy.totalBytes]))),
    differenceTable(
      'Tensors that differ',
      merged(reports, ({ plan }) => plan.tensors.map((tensor) => [tensor.name, tensor.bytes])).filter(([, a, b]) => a !== b),
    ),
  );
}

function side(report, letter, map, line) {
  const { strategies } = report.plan;
  const size = el('span', { class: 'plan-size' }, bytes(map.strategy.totalBytes));
  const change = () => {
    map.show(strategies[select.selectedIndex]);
    size.textContent = bytes(map.strategy.totalBytes);
  };
  const select = el('select', { 'aria-label': `Plan of ${letter}`, change }, strategies.map((strategy) => el('option', {}, shortened(strategy.name, 40))));
  select.selectedIndex = strategies.indexOf(map.strategy);
  map.element.classList.add('small');
  return panel(
    el('h2', {}, `${letter}: `, wholeName(titleOf(report))),
    about(report),
    el('div', { class: 'toolbar' }, select, size, map.strategy.provedMinimal && minimalBadge('proved minimal')),
    map.element,
    line,
  );
}

function tensorLine(map) {
  const box = map.selected;
  return box ? `${shortened(box.tensor.name, 60)}: ${bytes(box.tensor.bytes)}, ${map.lifetime(box)}, at ${bytes(box.low)}` : '';
}

/** Returns the cells of a row: the name, A, B, and the change. */
function changed(name, a, b, format) {
  const isKnown = Number.isFinite(a) && Number.isFinite(b);
  return [name, known(a, format), known(b, format), !isKnown ? '–' : a === b ? 'same' : a > 0 ? ratio(b / a) : '–'];
}

/** Returns the values of both reports by name, in order of appearance, as rows of name, A and B. */
function merged(reports, entries) {
  const [a, b] = reports.map((report) => new Map(entries(report)));
  return [...new Set([...a.keys(), ...b.keys()])].map((name) => [name, a.get(name), b.get(name)]);
}

function differenceTable(title, rows) {
  const columns = plainColumns(['Figure', 'A', 'B', 'B / A']);
  columns[0].format = named;
  return foldedTable(title, columns, rows.map(([name, a, b]) => changed(name, a, b, bytes)));
}

function differences(reports) {
  const row = (name, of, format = bytes) => changed(name, ...reports.map(of), format);
  const medians = ({ run }) => (run?.ways ?? []).filter((way) => way.latencyNanos?.length > 0).map((way) => [way.name, quantile(way.latencyNanos, 0.5)]);
  const owners = ({ memory = [] }) => memory.map((part) => [ownerOf(part).label, part.bytes]);
  return [
    row('arena', ({ plan }) => bestStrategy(plan).totalBytes),
    row('lower bound', ({ plan }) => boundOf(plan, bestStrategy(plan))),
    row('each tensor by itself', ({ plan }) => plan.naiveBytes),
    row('tensors', ({ plan }) => plannedTensors(plan), count),
    row('operators', ({ plan }) => plan.operators.length, count),
    row('model file', ({ model }) => model.bytes),
    ...merged(reports, owners).map(([name, a, b]) => changed(`memory: ${name}`, a, b, bytes)),
    ...merged(reports, medians).map(([name, a, b]) => changed(`median latency, ${shortened(name, 40)}`, a, b, time)),
    row('chosen candidate’s latency', ({ delegation }) => delegation?.candidates?.find((candidate) => candidate.chosen)?.latencyNanos, time),
  ].filter((cells) => cells[1] !== '–' || cells[2] !== '–');
}
