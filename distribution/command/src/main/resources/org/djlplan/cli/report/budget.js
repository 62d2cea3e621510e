/* The view of budgets: how much slower the model is with less memory. */

const MIB = 1024 * 1024;
const REFUSED_SHOWN = 12;

function budgetView({ budget }) {
  const points = [...(budget?.points ?? [])].sort((a, b) => a.budgetBytes - b.budgetBytes);
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
    facts.replaceChildren(point.refused ? el('p', { class: 'bad' }, 'Refused: ', shortened(point.refused, 600)) : budgetFacts(points, at, budget));
    resident.replaceChildren(residentPanel(point.resident));
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
function budgetChart(points, { stockPeakBytes }, selected) {
  const of = (key) => points.map((point) => (point.refused ? null : point[key] ?? null));
  const lowest = points.find((point) => !point.refused);
  const stock = Number.isFinite(stockPeakBytes) ? `Stock needs ${bytes(stockPeakBytes)}. ` : '';
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
    summary: `${stock}${lowest ? `The smallest budget that works here is ${bytes(lowest.budgetBytes)}${latency}.` : 'None of these budgets works.'}`,
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

function budgetFacts(points, at, { stockPeakBytes }) {
  const { peakBytes, stallNanos, binds, pinnedBytes, sliced, ...point } = points[at];
  return factList([
    ['latency', latencyOf(point)],
    ['peak', Number.isFinite(peakBytes) && exactBytes(peakBytes)],
    ['of stock', Number.isFinite(peakBytes) && stockPeakBytes > 0 && `${Math.round((100 * peakBytes) / stockPeakBytes)} % of its peak`],
    ['waiting for weights', Number.isFinite(stallNanos) && `${time(stallNanos)} of a prediction`],
    ['what binds', binds && shortened(binds)],
    ['weights kept', Number.isFinite(pinnedBytes) && exactBytes(pinnedBytes)],
    ['sliced', sliced > 0 && counted(sliced, 'layer')],
    ['the next MiB buys', nextMegabyte(points, at)],
  ]);
}

/** Describes the change of latency on the way to the next larger budget; null if there is none. */
function nextMegabyte(points, at) {
  const here = points[at];
  const next = points.slice(at + 1).find((point) => !point.refused && Number.isFinite(point.latencyRatio));
  if (!next || !Number.isFinite(here.latencyRatio) || next.budgetBytes <= here.budgetBytes) {
    return null;
  }
  if (here.lowRatio <= next.highRatio && next.lowRatio <= here.highRatio) {
    return `nothing that could be told from noise, on the way to ${bytes(next.budgetBytes)}`;
  }
  const change = ((next.latencyRatio - here.latencyRatio) / (next.budgetBytes - here.budgetBytes)) * MIB;
  const percent = (100 * change) / here.latencyRatio;
  const words = Math.abs(percent) < 0.005 ? 'nothing' : `${percent < 0 ? '−' : '+'}${digits(Math.abs(percent))} % latency`;
  return `${words}, on the way to ${bytes(next.budgetBytes)}`;
}

function residentPanel(resident) {
  if (!resident || resident.nanos.length === 0) {
    return emptyState('Which weights are in memory over time is not known for this budget.');
  }
  const { loads = [], evictions = [], stalls = [] } = resident;
  const highest = resident.bytes.reduce((a, b) => Math.max(a, b), 0);
  const draw = (context, x, y, { top, height }) => {
    const mark = (text, name, place) => (event) => {
      context.fillStyle = colour(name);
      context.fillText(text, x(event.at), place);
    };
    context.textAlign = 'center';
    context.fillStyle = translucent('unplanned', 35);
    stalls.forEach((stall) => context.fillRect(x(stall.at), top, Math.max(1, x(stall.at + (stall.nanos ?? 0)) - x(stall.at)), height));
    loads.forEach(mark('▲', 'accent', top + height));
    evictions.forEach(mark('▼', 'unplanned', top + 9));
  };
  const chart = new Chart({
    title: 'Weights in memory over one prediction',
    summary: `At most ${bytes(highest)}; ${counted(loads.length, 'load')}, ${counted(evictions.length, 'eviction')}, ${counted(stalls.length, 'stall')}.`,
    x: resident.nanos,
    xLabel: 'time',
    yLabel: 'weights in memory',
    xFormat: time,
    yFormat: bytes,
    lines: [{ label: 'weights in memory', values: resident.bytes, colour: 'packed', stepped: true, fill: true }],
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
        number('At', (each) => each.at, time),
        text('What', (each) => each.what),
        number('Bytes', (each) => each.bytes),
        text('Weights', (each) => each.name || (each.nanos ? time(each.nanos) : null)),
      ],
      events.sort((a, b) => a.at - b.at),
    ),
  );
}
