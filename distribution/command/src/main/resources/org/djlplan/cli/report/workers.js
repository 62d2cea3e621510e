/* Predictions that run and wait, while several threads predict at once. */

function workersView({ workers }) {
  const samples = [...(workers?.samples ?? [])].sort((a, b) => a.nanos - b.nanos);
  if (samples.length === 0) {
    return emptyState('No workers were watched.', 'djlplan report MODEL --predictors 8 --html FILE');
  }
  const most = (key) => samples.reduce((largest, sample) => Math.max(largest, sample[key] ?? 0), 0);
  const chart = new Chart({
    title: 'Workers over time',
    summary: `At most ${counted(most('busy'), 'worker')} busy, and ${counted(most('waiting'), 'prediction')} waiting.`,
    x: samples.map((sample) => sample.nanos),
    xLabel: 'time',
    yLabel: 'predictions',
    xFormat: time,
    yFormat: digits,
    lines: ['waiting', 'busy'].map((key, i) => ({
      label: key,
      values: samples.map((sample) => sample[key] ?? 0),
      colour: ['io', 'arena'][i],
      stepped: true,
      fill: true,
    })),
  });
  const columns = [
    number('At', (sample) => sample.nanos, time),
    number('Busy', (sample) => sample.busy),
    number('Waiting', (sample) => sample.waiting ?? 0),
  ];
  return el('div', {}, panel(chart.element), foldedTable('Workers', columns, samples));
}
