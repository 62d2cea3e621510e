/* The view of a study: times of sets of partitions, and of each partition on both sides. */

const MILLI = 1e6;

function studyView({ heading, verdict, sets, partitions, tables, tfLiteFirstN, best, chosen }) {
  const measured = sets.filter((set) => Number.isFinite(set.medianMillis));
  return el(
    'div',
    {},
    el('p', {}, shortened(heading, 200)),
    measured.length === 0
      ? emptyState('No set of partitions was measured.')
      : el('div', { class: 'columns' }, setsPanel(measured, tfLiteFirstN, best, chosen), partitions.length > 0 && partitionsPanel(partitions)),
    panel(el('h2', {}, 'What came out'), verdict.map((line) => el('p', {}, shortened(line, 400)))),
    tables.map(tablePanel),
  );
}

/** Draws latency by number of partitions, with a line through the sets that TensorFlow Lite's rule chooses. */
function setsPanel(sets, tfLiteFirstN, best, chosen) {
  const sorted = [...sets].sort((a, b) => a.partitions.length - b.partitions.length || a.medianMillis - b.medianMillis);
  const first = new Set(tfLiteFirstN.map((set) => set?.set));
  const only = (keep) => sorted.map((set) => (keep(set) ? set.medianMillis * MILLI : null));
  const cpu = sorted.find((set) => set.partitions.length === 0);
  const fastest = best ? `The fastest is ${shortened(best.set, 80)} with ${time(best.medianMillis * MILLI)}` : 'None is the fastest';
  const chart = new Chart({
    title: 'Latency of the sets of partitions',
    summary: `${fastest}, of ${counted(sets.length, 'set')}.`,
    x: sorted.map((set) => set.partitions.length),
    xLabel: 'delegated partitions',
    yLabel: 'latency of a prediction',
    xFormat: (value) => (Number.isInteger(value) ? count(value) : ''),
    yFormat: time,
    padded: true,
    lines: [
      ...(cpu ? [{ label: 'CPU kernels', values: sorted.map(() => cpu.medianMillis * MILLI), colour: 'mapped', dashed: true }] : []),
      { label: 'a set', values: only(() => true), colour: 'arena', points: true },
      { label: 'TFLite’s first N', values: only((set) => set.whole && first.has(set.set)), colour: 'io' },
      { label: 'chosen', values: only((set) => set.set === chosen?.set), colour: 'curve', points: true, strong: true },
    ],
    read: (i) => `${shortened(sorted[i].set, 80)}: ${time(sorted[i].medianMillis * MILLI)}`,
  });
  return panel(chart.element);
}

function partitionsPanel(partitions) {
  const rows = partitions.slice(0, 40).map((each) => ({
    label: `partition ${count(each.partition)}`,
    dots: [
      { value: each.cpuMillis * MILLI, colour: 'mapped' },
      { value: each.delegateMillis * MILLI, colour: 'packed' },
    ],
  }));
  const saves = partitions.filter((each) => each.delegateMillis < each.cpuMillis).length;
  const summary = `The delegate is quicker for ${saves} of ${partitions.length}.`;
  const keys = [
    { label: 'CPU kernels', colour: 'mapped', look: 'round' },
    { label: 'delegate', colour: 'packed', look: 'round' },
  ];
  return panel(dotPlot('Time of each partition', summary, rows, { format: time, label: 'time in a prediction' }, keys));
}
