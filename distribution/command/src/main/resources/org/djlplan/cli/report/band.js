/* A model's operators as a band, coloured by where they run, with a line under each partition. */

function runsDelegated(operator) {
  return operator.runs === 'delegate';
}

function operatorSentence(operator) {
  const nanos = Number.isFinite(operator.nanos) ? `, ${time(operator.nanos)}` : '';
  const partition = Number.isInteger(operator.partition) ? `, partition ${operator.partition + 1}` : '';
  const reason = operator.reason ? ` – ${shortened(operator.reason, 400)}` : '';
  return `${count(operator.index)} ${shortened(operator.type, 60)}: ${runsDelegated(operator) ? 'delegate' : 'CPU'}${partition}${nanos}${reason}`;
}

function bandChart(operators, partitions) {
  const some = (keep) => operators.some(keep);
  const draw = (context, x, y, box) => {
    const edge = (i) => Math.round(x(i - 0.5));
    operators.forEach((operator, i) => {
      const width = Math.max(1, edge(i + 1) - edge(i));
      context.fillStyle = colour(runsDelegated(operator) ? 'packed' : 'mapped', 1 - (i % 2));
      context.fillRect(edge(i), box.top, width > 4 ? width - 1 : width, 46);
    });
    context.fillStyle = colour('ink');
    operators.forEach(({ partition }, i) => {
      if (Number.isInteger(partition)) {
        const joined = operators[i + 1]?.partition === partition;
        context.fillRect(edge(i), box.top + 51, Math.max(1, edge(i + 1) - edge(i) - (joined ? 0 : 2)), 2);
      }
    });
    partitions.forEach((_, partition) => {
      const first = operators.findIndex((operator) => operator.partition === partition);
      if (first >= 0) {
        context.fillText(String(partition + 1), edge(first), box.top + 66);
      }
    });
  };
  return new Chart({
    title: 'Where operators run',
    summary: 'Point at an operator, or walk with the arrow keys, to read why it runs where it runs.',
    x: operators.map((_, i) => i),
    lines: [{ values: operators.map(() => 0), colour: 'ink', quiet: true }],
    xRange: () => [-0.5, operators.length - 0.5],
    yRange: [0, 1],
    height: 74,
    padding: [0, 0, 0, 0],
    axes: [{ show: false }, { show: false }],
    cursor: { y: false },
    keys: [
      some(runsDelegated) && { label: 'delegate', colour: 'packed' },
      some((operator) => !runsDelegated(operator)) && { label: 'CPU kernels', colour: 'mapped' },
      partitions.length > 0 && { label: 'a partition, with its number', colour: 'ink', look: 'line' },
    ],
    read: (i) => operatorSentence(operators[i]),
    draw,
  }).element;
}
