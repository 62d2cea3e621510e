/* The view of delegation: the operators in the delegate, the reasons, and other choices. */

/** Returns the operators with the partition of each, and a sentence on where it runs. */
function delegatedOperators({ explanation = [], partitions = [] }) {
  return explanation.map(({ operator: index, type, delegated, verdict, reason }) => ({
    index,
    type,
    delegated,
    reason: reason ? `${verdict}: ${reason}` : verdict,
    partition: partitions.findIndex((each) => each.includes(index)),
  }));
}

function delegationView({ delegation }) {
  if (!delegation) {
    return emptyState('Nothing is known of delegation: this model has not been measured with a delegate.', 'djlplan tune MODEL, then djlplan report MODEL --html FILE');
  }
  const { partitions = [], entries = [] } = delegation;
  const operators = delegatedOperators(delegation);
  const candidates = entries.filter((entry) => entry.kind === 'measured');
  const outputs = candidates.find((candidate) => candidate.chosen)?.errors ?? [];
  return el(
    'div',
    {},
    operators.length > 0 && bandPanel(delegation, operators, partitions),
    candidates.length > 0 && candidatePanel(candidates),
    outputs.length > 0 &&
      foldedTable(
        'Outputs, compared with the CPU kernels',
        [text('Output', (each) => each.output), ...['difference', 'noise', 'limit'].map((key) => number(key[0].toUpperCase() + key.slice(1), (each) => each[key], digits))],
        outputs,
      ),
    operators.length > 0 &&
      foldedTable(
        'Operators and reasons',
        [
          number('Operator', (each) => each.index),
          text('Type', (each) => each.type),
          text('Runs', (each) => (each.delegated ? 'delegate' : 'CPU'), String),
          number('Partition', (each) => (each.partition < 0 ? null : each.partition + 1)),
          text('Reason', (each) => each.reason || null, wholeName),
        ],
        operators,
      ),
    partitions.length > 0 &&
      foldedTable(
        'Partitions',
        [
          number('Partition', ({ i }) => i + 1),
          number('Operators', ({ operators: all }) => all.length),
          number('First', ({ operators: all }) => all[0] ?? null),
        ],
        partitions.map((all, i) => ({ operators: all, i })),
      ),
  );
}

function bandPanel({ reason, loads }, operators, partitions) {
  const delegated = operators.filter((operator) => operator.delegated).length;
  const options = Object.entries(loads ?? {}).flatMap(([key, value]) => [el('code', {}, shortened(`${key}=${value}`, 120)), ' ']);
  return panel(
    el(
      'p',
      {},
      `${counted(delegated, 'operator')} of ${count(operators.length)} in the delegate, ${counted(partitions.length, 'partition')}${reason ? ` (${shortened(reason, 200)})` : ''}.`,
    ),
    loads && el('p', { class: 'quiet' }, 'A load finds this ', ...(options.length === 0 ? ['without options.'] : ['with ', ...options])),
    bandChart(operators, partitions),
  );
}

function candidateName({ set, threads }) {
  return `${shortened(set)}${threads ? `, ${counted(threads, 'thread')}` : ''}`;
}

/** Draws latency and memory of each candidate. No candidate beats one on the front in both. */
function candidatePanel(candidates) {
  const measured = [...candidates].sort((a, b) => a.medianMillis - b.medianMillis);
  const front = measured.filter((each) => each.paretoFront);
  const chosen = measured.find((each) => each.chosen);
  const only = (keep) => measured.map((each) => (keep(each) ? each.memoryBytes : null));
  const millis = (value) => time(value * 1e6);
  const chart = new Chart({
    title: 'Latency and memory',
    summary: `${counted(front.length, 'candidate')} of ${measured.length} on the front: no other is quicker and smaller${chosen ? `; chosen ${candidateName(chosen)}, ${millis(chosen.medianMillis)}` : ''}.`,
    x: measured.map((each) => each.medianMillis),
    xLabel: 'latency of a prediction',
    yLabel: 'memory',
    xFormat: millis,
    yFormat: bytes,
    padded: true,
    lines: [
      ...(front.length > 1 ? [{ label: 'Pareto front', values: only((each) => each.paretoFront), colour: 'bound', stepped: true, dashed: true }] : []),
      { label: 'candidates', values: only(() => true), colour: 'arena', points: true },
      { label: 'chosen', values: only((each) => each.chosen), colour: 'curve', points: true, strong: true },
    ],
    read: (i) => `${candidateName(measured[i])}: ${millis(measured[i].medianMillis)}, ${bytes(measured[i].memoryBytes)}${measured[i].paretoFront ? ', on the front' : ''}`,
    draw: (context, x, y) => {
      context.strokeStyle = translucent('arena', 55);
      context.lineWidth = 1.5;
      context.beginPath();
      for (const each of measured) {
        context.moveTo(x(each.lowMillis), y(each.memoryBytes));
        context.lineTo(x(each.highMillis), y(each.memoryBytes));
      }
      context.stroke();
    },
  });
  return panel(
    chart.element,
    foldedTable(
      'Candidates',
      [
        text('Candidate', (each) => each.set),
        number('Threads', (each) => each.threads),
        number('Latency', (each) => each.medianMillis, millis),
        number('Low', (each) => each.lowMillis, millis),
        number('High', (each) => each.highMillis, millis),
        number('Memory', (each) => each.memoryBytes, bytes),
        text('Remarks', (each) => [each.chosen && 'chosen', each.paretoFront && 'on the front'].filter(Boolean).join(', '), String),
      ],
      candidates,
    ),
  );
}
