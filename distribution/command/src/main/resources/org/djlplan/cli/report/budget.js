/* The view of budgets: how much slower the model is with less memory. */

const REFUSED_SHOWN = 12;

/** Returns the figures of a budget that are shown; those that are not known are undefined. */
function budgetPoint({ name, budgetBytes, refused, firstLoadPeakAboveIdleBytes, peakAboveIdleBytes, warm, report, weights }) {
  const peaks = [firstLoadPeakAboveIdleBytes, peakAboveIdleBytes].filter(Number.isFinite);
  return {
    name,
    budgetBytes,
    refused,
    peakBytes: peaks.length > 0 ? Math.max(...peaks) : undefined,
    latencyRatio: warm?.median,
    lowRatio: warm?.low,
    highRatio: warm?.high,
    stallNanos: report?.lastStallNanos ?? report?.predictedStallNanos,
    pinnedBytes: report?.pinnedBytes,
    sliced: report?.slicedOperators,
    binds: weights?.binding,
    weights,
  };
}

function budgetView({ budget }) {
  const points = (budget?.budgets ?? []).map(budgetPoint).sort((a, b) => a.budgetBytes - b.budgetBytes);
  if (points.length === 0) {
    return emptyState('No budgets were tried.', 'djlplan report MODEL --html FILE --budgets 1/2,1/4,1/8');
  }
  let at = Math.max(0, points.findIndex((point) => !point.refused));
  const facts = el('div', { class: 'budget-facts', 'aria-live': 'polite' });
  const resident = el('div');
  const input = () => show(Number(slider.value));
  const slider = el('input', { type: 'range', id: 'budget-slider', min: 0, max: points.length - 1, step: 1, value: at, input });
  const value = el('output', { for: 'budget-slider', class: 'budget-value' });
  const chart = budgetChart(points, budget, () => at);
  const show = (next) => {
    at = next;
    const point = points[at];
    value.textContent = budgetName(point);
    slider.setAttribute('aria-valuetext', budgetSentence(point));
    facts.replaceChildren(point.refused ? el('p', { class: 'bad' }, 'Refused: ', shortened(point.refused, 600)) : budgetFacts(point, budget));
    resident.replaceChildren(residentPanel(point.weights));
    chart.redraw();
  };
  show(at);
  const refused = points.filter((point) => point.refused);
  const more = refused.length > REFUSED_SHOWN ? ` and ${count(refused.length - REFUSED_SHOWN)} more` : '';
  const names = refused.slice(0, REFUSED_SHOWN).map(budgetName).join(', ');
  return el(
    'div',
    {},
    el('section', { class: 'panel slider' }, el('label', { for: 'budget-slider' }, 'Budget'), slider, value),
    el(
      'div',
      { class: 'columns' },
      panel(chart.element, refused.length > 0 && el('p', { class: 'refused' }, `× refused: ${names}${more}`)),
      panel(el('h2', {}, 'At this budget'), facts),
    ),
    resident,
    foldedTable(
      'Budgets',
      [
        number('Budget', (each) => each.budgetBytes, bytes),
        number('Peak', (each) => each.peakBytes, bytes),
        number('Latency', (each) => each.latencyRatio, ratio),
        number('Low', (each) => each.lowRatio, ratio),
        number('High', (each) => each.highRatio, ratio),
        number('Stalls', (each) => each.stallNanos, time),
        number('Kept', (each) => each.pinnedBytes, bytes),
        text('What binds', (each) => each.refused || each.binds, wholeName),
      ],
      points,
    ),
  );
}

/** Returns the chart of latencies; the selected point is highlighted, and refused budgets are crosses. */
function budgetChart(points, { stock }, selected) {
  const of = (key) => points.map((point) => (point.refused ? null : point[key] ?? null));
  const lowest = points.find((point) => !point.refused);
  const needs = Number.isFinite(stock?.peakAboveIdleBytes) ? `Stock needs ${bytes(stock.peakAboveIdleBytes)}. ` : '';
  const latency = Number.isFinite(lowest?.latencyRatio) ? ` at ${ratio(lowest.latencyRatio)}` : '';
  const draw = (context, x, y, box) => {
    context.fillStyle = translucent('curve', 70);
    context.fillRect(x(points[selected()].budgetBytes) - 1, box.top, 2, box.height);
    points.forEach((point, i) => {
      const isSelected = i === selected();
      if (point.refused) {
        context.fillStyle = colour('bad');
        context.font = 'bold 18px system-ui, sans-serif';
        context.textAlign = 'center';
        context.fillText('×', x(point.budgetBytes), box.top + box.height - 4);
      } else if (Number.isFinite(point.latencyRatio)) {
        context.fillStyle = colour(isSelected ? 'curve' : 'arena');
        context.beginPath();
        context.arc(x(point.budgetBytes), y(point.latencyRatio), isSelected ? 6 : 4, 0, 2 * Math.PI);
        context.fill();
      }
    });
  };
  return new Chart({
    title: 'Latency at each budget, as a multiple of stock',
    summary: `${needs}${lowest ? `The smallest budget that works here is ${bytes(lowest.budgetBytes)}${latency}.` : 'None of these budgets works.'}`,
    x: points.map((point) => point.budgetBytes),
    xLabel: 'budget',
    yLabel: 'latency / stock',
    xFormat: bytes,
    yFormat: (value) => `× ${digits(value)}`,
    padded: true,
    lines: [
      { label: 'latency', values: of('latencyRatio'), colour: 'arena' },
      { label: 'low', values: of('lowRatio'), colour: 'arena', quiet: true },
      { label: 'high', values: of('highRatio'), colour: 'arena', quiet: true },
      { label: 'stock', values: points.map(() => 1), colour: 'bound', dashed: true },
    ],
    bands: [[2, 1]],
    read: (i) => budgetSentence(points[i]),
    draw,
  });
}

function budgetName(point) {
  return `${point.name ? `${shortened(point.name, 20)} · ` : ''}${bytes(point.budgetBytes)}`;
}

function budgetSentence(point) {
  return `${bytes(point.budgetBytes)}: ${point.refused ? `refused, ${shortened(point.refused, 200)}` : latencyOf(point)}`;
}

function latencyOf({ latencyRatio, lowRatio, highRatio }) {
  const range = Number.isFinite(lowRatio) && Number.isFinite(highRatio) ? ` (${lowRatio.toFixed(3)} to ${highRatio.toFixed(3)})` : '';
  return Number.isFinite(latencyRatio) ? `${ratio(latencyRatio)} of stock${range}` : 'not measured';
}

function budgetFacts(point, { stock }) {
  const { peakBytes, stallNanos, binds, pinnedBytes, sliced } = point;
  return factList([
    ['latency', latencyOf(point)],
    ['peak', Number.isFinite(peakBytes) && exactBytes(peakBytes)],
    ['of stock', Number.isFinite(peakBytes) && stock?.peakAboveIdleBytes > 0 && `${Math.round((100 * peakBytes) / stock.peakAboveIdleBytes)} % of its peak`],
    ['waiting for weights', Number.isFinite(stallNanos) && `${time(stallNanos)} of a prediction`],
    ['what binds', binds && shortened(binds)],
    ['weights kept', Number.isFinite(pinnedBytes) && exactBytes(pinnedBytes)],
    ['sliced', sliced > 0 && counted(sliced, 'layer')],
  ]);
}

/** Returns the curve of the weights in memory: at the beginning, after each change, and at the end. */
function residentCurve({ nanos, pinnedBytes, changes }) {
  const x = [0];
  const y = [pinnedBytes];
  for (const change of changes) {
    x.push(change.nanos);
    y.push(y.at(-1) + change.bytes);
  }
  return [[...x, nanos], [...y, y.at(-1)]];
}

function residentPanel(weights) {
  if (!weights || weights.changes.length === 0) {
    return emptyState('Which weights are in memory over time is not known for this budget.');
  }
  const { changes, stalls } = weights;
  const [x, resident] = residentCurve(weights);
  const loads = changes.filter((change) => change.bytes > 0);
  const evictions = changes.filter((change) => change.bytes < 0);
  const highest = resident.reduce((a, b) => Math.max(a, b), 0);
  const draw = (context, at, y, { top, height }) => {
    const mark = (text, name, place) => (event) => {
      context.fillStyle = colour(name);
      context.fillText(text, at(event.nanos), place);
    };
    context.textAlign = 'center';
    context.fillStyle = translucent('unplanned', 35);
    stalls.forEach((stall) => context.fillRect(at(stall.nanos), top, Math.max(1, at(stall.nanos + stall.waitNanos) - at(stall.nanos)), height));
    loads.forEach(mark('▲', 'accent', top + height));
    evictions.forEach(mark('▼', 'unplanned', top + 9));
  };
  const chart = new Chart({
    title: 'Weights in memory over one prediction',
    summary: `At most ${bytes(highest)}; ${counted(loads.length, 'load')}, ${counted(evictions.length, 'eviction')}, ${counted(stalls.length, 'stall')}.`,
    x,
    xLabel: 'time',
    yLabel: 'weights in memory',
    xFormat: time,
    yFormat: bytes,
    lines: [{ label: 'weights in memory', values: resident, colour: 'packed', stepped: true, fill: true }],
    keys: [
      { label: 'weights in memory', colour: 'packed' },
      loads.length > 0 && { label: 'a load, from below', colour: 'accent' },
      evictions.length > 0 && { label: 'an eviction, from above', colour: 'unplanned' },
      stalls.length > 0 && { label: 'a stall, shaded', colour: 'unplanned', look: 'faint' },
    ],
    draw,
  });
  const events = Object.entries({ load: loads, eviction: evictions, stall: stalls }).flatMap(([what, all]) => all.map((event) => ({ what, ...event })));
  return panel(
    chart.element,
    foldedTable(
      'Loads and evictions',
      [
        number('At', (each) => each.nanos, time),
        text('What', (each) => each.what),
        number('Bytes', (each) => each.bytes),
        text('Operator', (each) => each.operator),
      ],
      events.sort((a, b) => a.nanos - b.nanos),
    ),
  );
}
