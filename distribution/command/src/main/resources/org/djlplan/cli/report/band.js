/* A model's operators as a band, coloured by where they run, with a line under each partition. */

function operatorSentence({ index, type, delegated, partition, reason }) {
  const place = partition < 0 ? '' : `, partition ${partition + 1}`;
  return `${count(index)} ${shortened(type, 60)}: ${delegated ? 'delegate' : 'CPU'}${place} – ${shortened(reason, 400)}`;
}

function bandChart(operators, partitions) {
  const draw = (context, x, y, box) => {
    const edge = (i) => Math.round(x(i - 0.5));
    operators.forEach((operator, i) => {
      const width = Math.max(1, edge(i + 1) - edge(i));
      context.fillStyle = colour(operator.delegated ? 'packed' : 'mapped', 1 - (i % 2));
      context.fillRect(edge(i), box.top, width > 4 ? width - 1 : width, 46);
    });
    context.fillStyle = colour('ink');
    operators.forEach(({ partition }, i) => {
      if (partition >= 0) {
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
      operators.some(({ delegated }) => delegated) && { label: 'delegate', colour: 'packed' },
      operators.some(({ delegated }) => !delegated) && { label: 'CPU kernels', colour: 'mapped' },
      partitions.length > 0 && { label: 'a partition, with its number', colour: 'ink', look: 'line' },
    ],
    read: (i) => operatorSentence(operators[i]),
    draw,
  }).element;
}
