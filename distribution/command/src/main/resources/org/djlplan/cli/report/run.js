/* The view of measurements: stock beside planned. */

const WAY_COLOURS = new Map([
  ['stock', 'mapped'],
  ['planned', 'arena'],
  ['delegated', 'packed'],
]);
const OTHER_COLOURS = ['workspace', 'temporary', 'io', 'unplanned'];

/**
 * @param {string} name
 * @param {number} i
 * @returns {string}
 */
function wayColour(name, i) {
  return WAY_COLOURS.get(name) ?? OTHER_COLOURS[i % OTHER_COLOURS.length];
}

/**
 * @param {number[]} values
 * @param {number} share
 * @returns {number} the value that this fraction of the values does not exceed
 */
function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))];
}

/**
 * Gives several curves common x values.
 * @param {{ x: number[], y: number[] }[]} curves
 * @returns {{ x: number[], values: (number | null)[][] }}
 */
function joined(curves) {
  const x = [...new Set(curves.flatMap((curve) => curve.x))].sort((a, b) => a - b);
  const values = curves.map((curve) => {
    const known = new Map(curve.x.map((at, i) => [at, curve.y[i]]));
    return x.map((at) => known.get(at) ?? null);
  });
  return { x, values };
}

/**
 * @param {any} report
 * @returns {HTMLElement}
 */
function runView(report) {
  const ways = report.run?.ways ?? [];
  if (ways.length === 0) {
    return emptyState('Nothing was run: the plan is known, but not measured.', 'djlplan report MODEL --html FILE --runs 100');
  }
  const timed = ways.filter((way) => way.latencyNanos?.length > 0);
  const watched = ways.filter((way) => way.resident?.length > 0);
  return el(
    'div',
    {},
    el(
      'div',
      { class: 'columns' },
      timed.length > 0 && latencyPanel(timed, ways),
      watched.length > 0 && memoryPanel(watched, ways),
    ),
    el('section', { class: 'panel' }, table('What was measured', wayColumns(ways), measuredRows(ways))),
    ...(report.run.tables ?? []).map(comparisonPanel),
  );
}

/** Shows a table as the console does: figures, ratios, and remarks. */
function comparisonPanel({ title, heading, rows, notes }) {
  const isText = (/** @type {number} */ i) => rows.some((row) => /\p{L}{4}/u.test(row[i] ?? ''));
  const columns = heading.map((text, i) => ({
    title: i === 0 && text === '' ? 'Figure' : text,
    head: i === 0,
    number: i > 0 && !isText(i),
    cell: (row) => shortened(row[i] ?? '', 200),
  }));
  return el('section', { class: 'panel' }, table(title, columns, rows), ...notes.map((note) => el('p', { class: 'quiet' }, note)));
}

/**
 * Draws the fraction of predictions that took no longer than each time, without bins, which could
 * hide something.
 */
function latencyPanel(timed, ways) {
  const curves = timed.map((way) => {
    const sorted = [...way.latencyNanos].sort((a, b) => a - b);
    return { x: sorted, y: sorted.map((_, i) => (i + 1) / sorted.length) };
  });
  const { x, values } = joined(curves);
  const medians = timed.map((way) => `${shortened(way.name, 30)} ${time(quantile(way.latencyNanos, 0.5))}`);
  const chart = new Chart({
    title: 'Latency: share of predictions that took no longer',
    summary: `Medians: ${medians.join(', ')}.`,
    x,
    xLabel: 'latency of a prediction',
    yLabel: 'share of predictions',
    xFormat: time,
    yFormat: (value) => `${Math.round(value * 100)} %`,
    xKind: 'time',
    yRange: [0, 1.02],
    padded: true,
    lines: timed.map((way, i) => ({ label: shortened(way.name, 30), values: values[i], colour: wayColour(way.name, ways.indexOf(way)), stepped: true })),
  });
  return el('section', { class: 'panel' }, chart.element);
}

function memoryPanel(watched, ways) {
  const { x, values } = joined(
    watched.map((way) => {
      const samples = [...way.resident].sort((a, b) => a.nanos - b.nanos);
      return { x: samples.map((sample) => sample.nanos), y: samples.map((sample) => sample.bytes) };
    }),
  );
  const peaks = watched.map((way) => `${shortened(way.name, 30)} ${bytes(way.resident.reduce((most, sample) => Math.max(most, sample.bytes), 0))}`);
  const chart = new Chart({
    title: 'Resident memory over time',
    summary: `Peaks: ${peaks.join(', ')}.`,
    x,
    xLabel: 'time',
    yLabel: 'resident memory',
    xFormat: time,
    yFormat: bytes,
    xKind: 'time',
    yKind: 'bytes',
    lines: watched.map((way, i) => ({ label: shortened(way.name, 30), values: values[i], colour: wayColour(way.name, ways.indexOf(way)) })),
  });
  return el('section', { class: 'panel' }, chart.element);
}

function wayColumns(ways) {
  return [
    { title: 'Figure', head: true, cell: (row) => row.name },
    ...ways.map((way, i) => ({ title: shortened(way.name, 40), number: true, cell: (row) => row.cells[i] })),
  ];
}

function measuredRows(ways) {
  const latency = (share) => (way) => (way.latencyNanos?.length > 0 ? time(quantile(way.latencyNanos, share)) : '–');
  const rows = [
    { name: 'predictions', of: (way) => (way.latencyNanos ? count(way.latencyNanos.length) : '–') },
    { name: 'latency, median', of: latency(0.5) },
    { name: 'latency, 90 %', of: latency(0.9) },
    { name: 'latency, 99 %', of: latency(0.99) },
    { name: 'resident memory, peak', of: (way) => (way.resident?.length > 0 ? bytes(way.resident.reduce((most, each) => Math.max(most, each.bytes), 0)) : '–') },
    { name: 'page faults', of: (way) => (Number.isFinite(way.pageFaults) ? count(way.pageFaults) : '–') },
  ].map(({ name, of }) => ({ name, cells: ways.map(of) }));
  const names = [...new Set(ways.flatMap((way) => Object.keys(way.figures ?? {})))];
  const figures = names.map((name) => ({
    name: named(name),
    cells: ways.map((way) => (Object.hasOwn(way.figures ?? {}, name) ? shortened(String(way.figures[name]), 80) : '–')),
  }));
  return [...rows.filter((row) => row.cells.some((cell) => cell !== '–')), ...figures];
}
