/* The view of measurements: stock beside planned. */

const WAY_COLOURS = { stock: 'mapped', planned: 'arena', delegated: 'packed' };
const OTHER_COLOURS = ['workspace', 'temporary', 'io', 'unplanned'];

function wayColour(name, i) {
  return Object.hasOwn(WAY_COLOURS, name) ? WAY_COLOURS[name] : OTHER_COLOURS[i % OTHER_COLOURS.length];
}

/** Returns the value that this fraction of the values does not exceed. */
function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

function peakOf(way) {
  return way.resident.reduce((most, sample) => Math.max(most, sample.bytes), 0);
}

/** Draws one curve for each way of running, on common x values. A curve is a list of [x, y]. */
function waysChart(ways, curveOf, options) {
  const curves = ways.map((way) => new Map(curveOf(way)));
  const x = [...new Set(curves.flatMap((curve) => [...curve.keys()]))].sort((a, b) => a - b);
  const lines = ways.map((way, i) => ({
    label: shortened(way.name, 30),
    values: x.map((at) => curves[i].get(at) ?? null),
    colour: wayColour(way.name, i),
    stepped: options.stepped,
  }));
  return panel(new Chart({ x, lines, xFormat: time, ...options }).element);
}

function runView({ run }) {
  const ways = run?.ways ?? [];
  if (ways.length === 0) {
    return emptyState('Nothing was run: the plan is known, but not measured.', 'djlplan report MODEL --html FILE --runs 100');
  }
  const timed = ways.filter((way) => way.latencyNanos?.length > 0);
  const watched = ways.filter((way) => way.resident?.length > 0);
  return el(
    'div',
    {},
    el('div', { class: 'columns' }, timed.length > 0 && latencyPanel(timed), watched.length > 0 && residentMemoryPanel(watched)),
    panel(table('What was measured', plainColumns(['Figure', ...ways.map((way) => shortened(way.name, 40))]), measuredRows(ways))),
    (run.tables ?? []).map(tablePanel),
  );
}

/** Shows a table as the console does: figures, ratios, and remarks. */
function tablePanel({ title, heading, rows, notes }) {
  const isNumber = (i) => !rows.some((row) => /\p{L}{4}/u.test(row[i] ?? ''));
  const cells = rows.map((row) => heading.map((_, i) => shortened(row[i] ?? '', 200)));
  const columns = plainColumns(heading.map((each) => each || 'Figure'), isNumber);
  return panel(table(title, columns, cells), ...notes.map((note) => el('p', { class: 'quiet' }, note)));
}

/** Draws the fraction of predictions that took no longer than each time, without bins, which could hide something. */
function latencyPanel(ways) {
  const curve = ({ latencyNanos }) => [...latencyNanos].sort((a, b) => a - b).map((nanos, i) => [nanos, (i + 1) / latencyNanos.length]);
  const medians = ways.map((way) => `${shortened(way.name, 30)} ${time(quantile(way.latencyNanos, 0.5))}`);
  return waysChart(ways, curve, {
    title: 'Latency: share of predictions that took no longer',
    summary: `Medians: ${medians.join(', ')}.`,
    xLabel: 'latency of a prediction',
    yLabel: 'share of predictions',
    yFormat: (value) => `${Math.round(value * 100)} %`,
    yRange: [0, 1.02],
    padded: true,
    stepped: true,
  });
}

function residentMemoryPanel(ways) {
  const peaks = ways.map((way) => `${shortened(way.name, 30)} ${bytes(peakOf(way))}`);
  return waysChart(ways, (way) => way.resident.map((sample) => [sample.nanos, sample.bytes]), {
    title: 'Resident memory over time',
    summary: `Peaks: ${peaks.join(', ')}.`,
    xLabel: 'time',
    yLabel: 'resident memory',
    yFormat: bytes,
  });
}

function measuredRows(ways) {
  const latency = (share) => (way) => (way.latencyNanos?.length > 0 ? time(quantile(way.latencyNanos, share)) : '–');
  const figures = {
    predictions: (way) => known(way.latencyNanos?.length, count),
    'latency, median': latency(0.5),
    'latency, 90 %': latency(0.9),
    'latency, 99 %': latency(0.99),
    'resident memory, peak': (way) => (way.resident?.length > 0 ? bytes(peakOf(way)) : '–'),
    'page faults': (way) => known(way.pageFaults, count),
  };
  return Object.entries(figures)
    .map(([name, of]) => [name, ...ways.map(of)])
    .filter((row) => row.slice(1).some((cell) => cell !== '–'));
}
