/* The view of a study: times of sets of partitions, and of each partition on both sides. */

const MILLI = 1e6;

/**
 * @param {any} data
 * @returns {HTMLElement}
 */
function studyView({ study }) {
  const sets = study.sets.filter((set) => Number.isFinite(set.medianMillis));
  return el(
    'div',
    {},
    el('p', {}, shortened(study.heading, 200)),
    sets.length === 0
      ? emptyState('No set of partitions was measured.', '')
      : el('div', { class: 'columns' }, setsPanel(study, sets), study.partitions.length > 0 && partitionsPanel(study.partitions)),
    el('section', { class: 'panel' }, el('h2', {}, 'What came out'), study.verdict.map((line) => el('p', {}, shortened(line, 400)))),
    study.tables.map(comparisonPanel),
  );
}

/**
 * Draws partitions on the x axis and latency on the y axis, with a line through the sets that
 * TensorFlow Lite's rule chooses.
 */
function setsPanel(study, sets) {
  const sorted = [...sets].sort((a, b) => a.partitions.length - b.partitions.length || a.medianMillis - b.medianMillis);
  const first = new Set(study.tfLiteFirstN.filter((set) => set !== null).map((set) => set.set));
  const only = (/** @type {(set: any) => boolean} */ keep) => sorted.map((set) => (keep(set) ? set.medianMillis * MILLI : null));
  const cpu = sorted.find((set) => set.partitions.length === 0);
  const best = study.best ? `The fastest is ${shortened(study.best.set, 80)} with ${time(study.best.medianMillis * MILLI)}` : 'None is the fastest';
  const chart = new Chart({
    title: 'Latency of the sets of partitions',
    summary: `${best}, of ${counted(sets.length, 'set')}.`,
    x: sorted.map((set) => set.partitions.length),
    xLabel: 'delegated partitions',
    yLabel: 'latency of a prediction',
    xFormat: (value) => (Number.isInteger(value) ? count(value) : ''),
    yFormat: time,
    yKind: 'time',
    padded: true,
    lines: [
      ...(cpu ? [{ label: 'CPU kernels', values: sorted.map(() => cpu.medianMillis * MILLI), colour: 'mapped', dashed: true }] : []),
      { label: 'a set', values: only(() => true), colour: 'arena', points: true },
      { label: 'TFLite’s first N', values: only((set) => set.whole && first.has(set.set)), colour: 'io' },
      { label: 'chosen', values: only((set) => set.set === study.chosen?.set), colour: 'curve', points: true, strong: true },
    ],
    read: (i) => `${shortened(sorted[i].set, 80)}: ${time(sorted[i].medianMillis * MILLI)}`,
  });
  return el('section', { class: 'panel' }, chart.element);
}

function partitionsPanel(partitions) {
  const rows = partitions.map((each) => ({
    label: `partition ${count(each.partition)}`,
    dots: [
      { value: each.cpuMillis * MILLI, colour: 'mapped' },
      { value: each.delegateMillis * MILLI, colour: 'packed' },
    ],
  }));
  const saves = partitions.filter((each) => each.delegateMillis < each.cpuMillis).length;
  return el(
    'section',
    { class: 'panel' },
    dotPlot(
      'Time of each partition',
      `The delegate is quicker for ${saves} of ${partitions.length}.`,
      rows.slice(0, 40),
      { format: time, label: 'time in a prediction' },
      legend([
        { label: 'CPU kernels', colour: 'mapped', look: 'round' },
        { label: 'delegate', colour: 'packed', look: 'round' },
      ]),
    ),
  );
}
