/* The view of delegation: the operators in the delegate, the reasons, and other choices. */

/**
 * @param {any} report
 * @returns {HTMLElement}
 */
function delegationView(report) {
  const { delegation } = report;
  if (!delegation) {
    return emptyState('Nothing is known of delegation: this model has not been measured with a delegate.', 'djlplan tune MODEL, then djlplan report MODEL --html FILE');
  }
  const operators = delegation.operators ?? [];
  const partitions = delegation.partitions ?? [];
  const candidates = delegation.candidates ?? [];
  const outputs = delegation.outputs ?? [];
  const chosen = candidates.find((candidate) => candidate.chosen);
  return el(
    'div',
    {},
    operators.length > 0 && bandPanel(delegation, operators, partitions),
    candidates.length > 0 && el('div', { class: 'columns' }, candidatePanel(candidates, chosen), paretoPanel(candidates, chosen)),
    outputs.length > 0 && outputPanel(outputs),
    operatorTables(operators, partitions),
  );
}

function bandPanel(delegation, operators, partitions) {
  const delegated = operators.filter(runsDelegated).length;
  return el(
    'section',
    { class: 'panel' },
    el('h2', {}, 'Where operators run'),
    el(
      'p',
      {},
      `${counted(delegated, 'operator')} of ${count(operators.length)} in the delegate, ${counted(partitions.length, 'partition')}${delegation.origin ? ` (${shortened(delegation.origin, 200)})` : ''}.`,
    ),
    ...loadsOf(delegation),
    legend([
      ...(delegated > 0 ? [{ label: 'delegate', colour: 'packed' }] : []),
      ...(delegated < operators.length ? [{ label: 'CPU kernels', colour: 'mapped' }] : []),
      ...(partitions.length > 0 ? [{ label: 'a partition, with its number', colour: 'ink', look: /** @type {const} */ ('line') }] : []),
    ]),
    new Band(operators, partitions).element,
  );
}

/**
 * Says which loads find this result, and which options require a new measurement.
 * @param {any} delegation
 * @returns {HTMLElement[]}
 */
function loadsOf({ loads, measuredAnewBy }) {
  if (!loads) {
    return [];
  }
  const code = (/** @type {string} */ option) => [el('code', {}, shortened(option, 120)), ' '];
  const found = el('p', { class: 'quiet' }, 'A load finds this ', ...(loads.length === 0 ? ['without options.'] : ['with ', ...loads.flatMap(code)]));
  return (measuredAnewBy ?? []).length === 0
    ? [found]
    : [
        found,
        el(
          'details',
          { class: 'folded' },
          el('summary', {}, 'Options whose other values are measured anew'),
          el('ul', { class: 'options' }, measuredAnewBy.map((option) => el('li', {}, el('code', {}, shortened(option, 120))))),
        ),
      ];
}

/** @param {any} candidate */
function candidateName(candidate) {
  return `${candidate.name}${candidate.threads ? `, ${counted(candidate.threads, 'thread')}` : ''}`;
}

function candidatePanel(candidates, chosen) {
  const rows = [...candidates]
    .sort((a, b) => a.latencyNanos - b.latencyNanos)
    .slice(0, 24)
    .map((candidate) => ({
      label: candidateName(candidate),
      dots: [{ value: candidate.latencyNanos, colour: candidate === chosen ? 'curve' : 'arena', mark: /** @type {'ring' | 'dot'} */ (candidate.verified === false ? 'ring' : 'dot') }],
      low: candidate.lowNanos,
      high: candidate.highNanos,
      strong: candidate === chosen,
    }));
  const rings = rows.some((row) => row.dots[0].mark === 'ring') ? ' Rings: outputs not compared.' : '';
  const summary = `${chosen ? `Chosen: ${shortened(candidateName(chosen))}, ${time(chosen.latencyNanos)}.` : 'None is chosen.'}${rings}`;
  return el(
    'section',
    { class: 'panel' },
    dotPlot('Latency of each candidate, with its spread', summary, rows, { format: time, label: 'latency of a prediction' }),
    foldedTable(
      'Candidates',
      [
        { title: 'Candidate', head: true, cell: (each) => named(each.name), sort: (each) => each.name },
        { title: 'Threads', number: true, cell: (each) => each.threads ?? '–', sort: (each) => each.threads ?? 0 },
        { title: 'Latency', number: true, cell: (each) => time(each.latencyNanos), sort: (each) => each.latencyNanos },
        { title: 'Low', number: true, cell: (each) => (Number.isFinite(each.lowNanos) ? time(each.lowNanos) : '–') },
        { title: 'High', number: true, cell: (each) => (Number.isFinite(each.highNanos) ? time(each.highNanos) : '–') },
        { title: 'Memory', number: true, cell: (each) => (Number.isFinite(each.memoryBytes) ? bytes(each.memoryBytes) : '–'), sort: (each) => each.memoryBytes ?? -1 },
        { title: '', cell: (each) => [each.chosen && 'chosen', each.pareto && 'on the front', each.verified && 'outputs compared'].filter(Boolean).join(', ') },
      ],
      candidates,
    ),
  );
}

/**
 * Draws latency on the x axis and memory on the y axis. No candidate beats one on the front in
 * both.
 */
function paretoPanel(candidates, chosen) {
  const known = candidates.filter((each) => Number.isFinite(each.memoryBytes)).sort((a, b) => a.latencyNanos - b.latencyNanos);
  if (known.length === 0) {
    return emptyState('No candidate’s memory is known.', '');
  }
  if (known.length === 1) {
    const [only] = known;
    return el(
      'section',
      { class: 'panel' },
      el('h2', {}, 'Latency and memory'),
      el('p', {}, `One candidate was measured, so there is nothing to weigh: ${shortened(candidateName(only))} takes ${time(only.latencyNanos)} and ${bytes(only.memoryBytes)}.`),
    );
  }
  const front = known.filter((each) => each.pareto);
  const only = (/** @type {(each: any) => boolean} */ keep) => known.map((each) => (keep(each) ? each.memoryBytes : null));
  const chart = new Chart({
    title: 'Latency and memory',
    summary: frontSummary(front, known.length, chosen),
    x: known.map((each) => each.latencyNanos),
    xLabel: 'latency of a prediction',
    yLabel: 'memory',
    xFormat: time,
    yFormat: bytes,
    yKind: 'bytes',
    padded: true,
    lines: [
      ...(front.length > 1 ? [{ label: 'Pareto front', values: only((each) => each.pareto === true), colour: 'bound', stepped: true, dashed: true }] : []),
      { label: 'candidates', values: only(() => true), colour: 'arena', points: true },
      { label: 'chosen', values: only((each) => each === chosen), colour: 'curve', points: true, strong: true },
    ],
    read: (i) => `${shortened(candidateName(known[i]))}: ${time(known[i].latencyNanos)}, ${bytes(known[i].memoryBytes)}${known[i].pareto ? ', on the front' : ''}`,
    draw: (context, plot) => {
      context.strokeStyle = translucent('arena', 55);
      context.lineWidth = devicePixelRatio * 1.5;
      context.beginPath();
      for (const each of known) {
        if (Number.isFinite(each.lowNanos) && Number.isFinite(each.highNanos)) {
          const y = plot.valToPos(each.memoryBytes, 'y', true);
          context.moveTo(plot.valToPos(each.lowNanos, 'x', true), y);
          context.lineTo(plot.valToPos(each.highNanos, 'x', true), y);
        }
      }
      context.stroke();
    },
  });
  return el('section', { class: 'panel' }, chart.element);
}

/**
 * @param {any[]} front
 * @param {number} known how many candidates there are
 * @param {any} chosen
 * @returns {string}
 */
function frontSummary(front, known, chosen) {
  const choice = chosen ? `; chosen ${shortened(chosen.name)}` : '';
  return front.length === 1
    ? `No other of ${counted(known, 'candidate')} is quicker or smaller than ${shortened(candidateName(front[0]))}${chosen === front[0] ? ', which is chosen' : choice}.`
    : `${counted(front.length, 'candidate')} of ${known} on the front: none is better in both${choice}.`;
}

function outputPanel(outputs) {
  const known = (/** @type {string} */ key) => outputs.some((output) => Number.isFinite(output[key]));
  const bad = outputs.filter((output) => Number.isFinite(output.limit) && output.difference > output.limit);
  const rows = outputs.slice(0, 60).map((output) => ({
    label: output.name || 'without a name',
    dots: [
      ...(Number.isFinite(output.limit) ? [{ value: output.limit, colour: 'unplanned', mark: /** @type {const} */ ('line') }] : []),
      ...(Number.isFinite(output.noise) ? [{ value: output.noise, colour: 'mapped', mark: /** @type {const} */ ('ring') }] : []),
      { value: output.difference, colour: 'arena', mark: /** @type {const} */ ('dot') },
    ],
  }));
  const summary =
    bad.length === 0 ? 'Every output is within its limit. Zero is drawn at the left end.' : `${counted(bad.length, 'output')} beyond the limit. Zero is drawn at the left end.`;
  return el(
    'section',
    { class: 'panel' },
    dotPlot(
      'Accuracy of each output',
      summary,
      rows,
      { format: exponent, log: true, label: 'difference, logarithmic' },
      legend([
        { label: 'difference from the CPU kernels', colour: 'arena', look: 'round' },
        ...(known('noise') ? [{ label: 'noise of the CPU kernels', colour: 'mapped', look: /** @type {const} */ ('ring') }] : []),
        ...(known('limit') ? [{ label: 'limit', colour: 'unplanned', look: /** @type {const} */ ('upright') }] : []),
      ]),
    ),
    foldedTable(
      'Outputs',
      [
        { title: 'Output', head: true, cell: (each) => named(each.name) },
        { title: 'Difference', number: true, cell: (each) => digits(each.difference), sort: (each) => each.difference },
        { title: 'Noise', number: true, cell: (each) => (Number.isFinite(each.noise) ? digits(each.noise) : '–') },
        { title: 'Limit', number: true, cell: (each) => (Number.isFinite(each.limit) ? digits(each.limit) : '–') },
      ],
      outputs,
    ),
  );
}

/**
 * @param {number} value a power of ten
 * @returns {string}
 */
function exponent(value) {
  return Math.abs(Math.log10(value)) < 3 ? String(Number(value.toPrecision(2))) : `1e${Math.round(Math.log10(value))}`;
}

function operatorTables(operators, partitions) {
  return el(
    'div',
    {},
    operators.length > 0 &&
      foldedTable(
        'Operators and reasons',
        [
          { title: 'Operator', head: true, number: true, cell: (each) => count(each.index), sort: (each) => each.index },
          { title: 'Type', cell: (each) => named(each.type), sort: (each) => each.type },
          { title: 'Runs', cell: (each) => (runsDelegated(each) ? 'delegate' : 'CPU'), sort: (each) => each.runs },
          { title: 'Partition', number: true, cell: (each) => (Number.isInteger(each.partition) ? each.partition + 1 : '–'), sort: (each) => each.partition ?? -1 },
          ...(operators.some((each) => Number.isFinite(each.nanos))
            ? [{ title: 'Time', number: true, cell: (each) => (Number.isFinite(each.nanos) ? time(each.nanos) : '–'), sort: (each) => each.nanos ?? -1 }]
            : []),
          { title: 'Reason', cell: (each) => (each.reason ? wholeName(each.reason) : '–') },
        ],
        operators,
      ),
    partitions.length > 0 &&
      foldedTable(
        'Partitions',
        [
          { title: 'Partition', head: true, cell: ({ number }) => number + 1 },
          { title: 'Operators', number: true, cell: ({ partition }) => count(partition.operators.length), sort: ({ partition }) => partition.operators.length },
          { title: 'First', number: true, cell: ({ partition }) => (partition.operators.length > 0 ? count(Math.min(...partition.operators)) : '–') },
          { title: 'Bytes that cross', number: true, cell: ({ partition }) => (Number.isFinite(partition.bytesCrossing) ? count(partition.bytesCrossing) : '–') },
        ],
        partitions.map((partition, number) => ({ partition, number })),
      ),
  );
}
