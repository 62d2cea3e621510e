/* The view of delegation: the operators in the delegate, the reasons, and other choices. */

const CANDIDATES_SHOWN = 24;
const OUTPUTS_SHOWN = 60;

function delegationView({ delegation }) {
  if (!delegation) {
    return emptyState('Nothing is known of delegation: this model has not been measured with a delegate.', 'djlplan tune MODEL, then djlplan report MODEL --html FILE');
  }
  const { operators = [], partitions = [], candidates = [], outputs = [] } = delegation;
  return el(
    'div',
    {},
    operators.length > 0 && bandPanel(delegation, operators, partitions),
    candidates.length > 0 && el('div', { class: 'columns' }, candidatePanel(candidates), frontPanel(candidates)),
    outputs.length > 0 && outputPanel(outputs),
    operators.length > 0 &&
      foldedTable(
        'Operators and reasons',
        [
          number('Operator', (each) => each.index),
          text('Type', (each) => each.type),
          text('Runs', (each) => (runsDelegated(each) ? 'delegate' : 'CPU'), String),
          number('Partition', (each) => each.partition, (partition) => partition + 1),
          ...(operators.some((each) => Number.isFinite(each.nanos)) ? [number('Time', (each) => each.nanos, time)] : []),
          text('Reason', (each) => each.reason || null, wholeName),
        ],
        operators,
      ),
    partitions.length > 0 &&
      foldedTable(
        'Partitions',
        [
          number('Partition', ({ i }) => i + 1),
          number('Operators', (each) => each.operators.length),
          number('First', (each) => (each.operators.length > 0 ? Math.min(...each.operators) : null)),
          number('Bytes that cross', (each) => each.bytesCrossing),
        ],
        partitions.map((partition, i) => ({ ...partition, i })),
      ),
  );
}

function bandPanel({ origin, loads, measuredAnewBy = [] }, operators, partitions) {
  const delegated = operators.filter(runsDelegated).length;
  const code = (option) => [el('code', {}, shortened(option, 120)), ' '];
  return panel(
    el(
      'p',
      {},
      `${counted(delegated, 'operator')} of ${count(operators.length)} in the delegate, ${counted(partitions.length, 'partition')}${origin ? ` (${shortened(origin, 200)})` : ''}.`,
    ),
    loads && el('p', { class: 'quiet' }, 'A load finds this ', ...(loads.length === 0 ? ['without options.'] : ['with ', ...loads.flatMap(code)])),
    measuredAnewBy.length > 0 &&
      el(
        'details',
        { class: 'folded' },
        el('summary', {}, 'Options whose other values are measured anew'),
        el('ul', { class: 'options' }, measuredAnewBy.map((option) => el('li', {}, code(option)))),
      ),
    bandChart(operators, partitions),
  );
}

function candidateName({ name, threads }) {
  return `${shortened(name)}${threads ? `, ${counted(threads, 'thread')}` : ''}`;
}

function candidatePanel(candidates) {
  const sorted = [...candidates].sort((a, b) => a.latencyNanos - b.latencyNanos).slice(0, CANDIDATES_SHOWN);
  const chosen = candidates.find((candidate) => candidate.chosen);
  const rows = sorted.map((candidate) => ({
    label: candidateName(candidate),
    dots: [{ value: candidate.latencyNanos, colour: candidate.chosen ? 'curve' : 'arena', mark: candidate.verified === false ? 'ring' : 'dot' }],
    low: candidate.lowNanos,
    high: candidate.highNanos,
    strong: candidate.chosen,
  }));
  const rings = sorted.some((candidate) => candidate.verified === false) ? ' Rings: outputs not compared.' : '';
  const summary = `${chosen ? `Chosen: ${candidateName(chosen)}, ${time(chosen.latencyNanos)}.` : 'None is chosen.'}${rings}`;
  return panel(
    dotPlot('Latency of each candidate, with its spread', summary, rows, { format: time, label: 'latency of a prediction' }),
    foldedTable(
      'Candidates',
      [
        text('Candidate', (each) => each.name),
        number('Threads', (each) => each.threads),
        number('Latency', (each) => each.latencyNanos, time),
        number('Low', (each) => each.lowNanos, time),
        number('High', (each) => each.highNanos, time),
        number('Memory', (each) => each.memoryBytes, bytes),
        text('Remarks', (each) => [each.chosen && 'chosen', each.pareto && 'on the front', each.verified && 'outputs compared'].filter(Boolean).join(', '), String),
      ],
      candidates,
    ),
  );
}

/** Draws latency and memory of each candidate. No candidate beats one on the front in both. */
function frontPanel(candidates) {
  const measured = candidates.filter((each) => Number.isFinite(each.memoryBytes)).sort((a, b) => a.latencyNanos - b.latencyNanos);
  if (measured.length === 0) {
    return null;
  }
  const front = measured.filter((each) => each.pareto);
  const chosen = measured.find((each) => each.chosen);
  const only = (keep) => measured.map((each) => (keep(each) ? each.memoryBytes : null));
  const chart = new Chart({
    title: 'Latency and memory',
    summary: `${counted(front.length, 'candidate')} of ${measured.length} on the front: no other is quicker and smaller${chosen ? `; chosen ${shortened(chosen.name)}` : ''}.`,
    x: measured.map((each) => each.latencyNanos),
    xLabel: 'latency of a prediction',
    yLabel: 'memory',
    xFormat: time,
    yFormat: bytes,
    padded: true,
    lines: [
      ...(front.length > 1 ? [{ label: 'Pareto front', values: only((each) => each.pareto), colour: 'bound', stepped: true, dashed: true }] : []),
      { label: 'candidates', values: only(() => true), colour: 'arena', points: true },
      { label: 'chosen', values: only((each) => each.chosen), colour: 'curve', points: true, strong: true },
    ],
    read: (i) => `${candidateName(measured[i])}: ${time(measured[i].latencyNanos)}, ${bytes(measured[i].memoryBytes)}${measured[i].pareto ? ', on the front' : ''}`,
    draw: (context, x, y) => {
      context.strokeStyle = translucent('arena', 55);
      context.lineWidth = 1.5;
      context.beginPath();
      for (const each of measured.filter(({ lowNanos, highNanos }) => Number.isFinite(lowNanos) && Number.isFinite(highNanos))) {
        context.moveTo(x(each.lowNanos), y(each.memoryBytes));
        context.lineTo(x(each.highNanos), y(each.memoryBytes));
      }
      context.stroke();
    },
  });
  return panel(chart.element);
}

function outputPanel(outputs) {
  const isKnown = (key) => outputs.some((output) => Number.isFinite(output[key]));
  const bad = outputs.filter((output) => output.difference > output.limit);
  const marks = [
    { key: 'limit', label: 'limit', colour: 'unplanned', mark: 'line', look: 'upright' },
    { key: 'noise', label: 'noise of the CPU kernels', colour: 'mapped', mark: 'ring', look: 'ring' },
    { key: 'difference', label: 'difference from the CPU kernels', colour: 'arena', mark: 'dot', look: 'round' },
  ].filter(({ key }) => isKnown(key));
  const rows = outputs.slice(0, OUTPUTS_SHOWN).map((output) => ({
    label: output.name || 'without a name',
    dots: marks.filter(({ key }) => Number.isFinite(output[key])).map((mark) => ({ ...mark, value: output[mark.key] })),
  }));
  const summary = `${bad.length === 0 ? 'Every output is within its limit.' : `${counted(bad.length, 'output')} beyond the limit.`} Zero is drawn at the left end.`;
  return panel(
    dotPlot('Accuracy of each output', summary, rows, { format: powerOfTen, log: true, label: 'difference, logarithmic' }, marks.reverse()),
    foldedTable(
      'Outputs',
      [text('Output', (each) => each.name), ...['difference', 'noise', 'limit'].map((key) => number(key[0].toUpperCase() + key.slice(1), (each) => each[key], digits))],
      outputs,
    ),
  );
}

function powerOfTen(value) {
  const power = Math.log10(value);
  return Math.abs(power) < 3 ? String(Number(value.toPrecision(2))) : `1e${Math.round(power)}`;
}
