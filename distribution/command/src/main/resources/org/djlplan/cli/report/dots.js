/* Rows of points on one axis; a row can have a range in which its true value lies. */

const ROW_HEIGHT = 26;

/**
 * Returns a dot plot. A row has a label, dots (each with a value, a colour and a mark: dot, ring or
 * line) and optionally low, high and strong. The value axis has a label and a format, and is
 * logarithmic if log is true; then zero is drawn at its left end.
 */
function dotPlot(title, summary, rows, { label, format, log = false }, keys = []) {
  const stage = el('div', { class: 'chart', role: 'img', 'aria-label': `${title}. ${summary}` });
  const values = rows.flatMap((row) => [...row.dots.map((dot) => dot.value), row.low ?? 0, row.high ?? 0]);
  const positive = values.filter((value) => value > 0);
  const high = Math.max(...positive, 1e-9);
  const first = Math.floor(Math.log10(Math.min(...positive, high)) + 1e-9);
  const last = Math.max(first + 1, Math.ceil(Math.log10(high) - 1e-9));
  const range = log ? [10 ** first, 10 ** last] : [0, high * 1.04];
  const powers = Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
  const height = rows.length * ROW_HEIGHT + 48;
  stage.style.height = `${height}px`;
  const draw = (context, x, y, box) => {
    rows.forEach((row, i) => {
      const middle = y(-i);
      if (row.strong) {
        context.fillStyle = colour('column');
        context.fillRect(0, middle - ROW_HEIGHT / 2, box.left + box.width, ROW_HEIGHT);
      }
      context.lineCap = 'round';
      if (row.low !== undefined && row.high !== undefined) {
        context.strokeStyle = colour('edge');
        context.lineWidth = 3;
        context.beginPath();
        context.moveTo(x(row.low), middle);
        context.lineTo(x(row.high), middle);
        context.stroke();
      }
      row.dots.forEach((dot) => drawDot(context, dot, x(Math.max(dot.value, range[0])), middle));
    });
  };
  const definition = {
    padding: [0, 28, 0, 0],
    cursor: { show: false },
    scales: { x: { time: false, distr: log ? 3 : 1, range: () => range }, y: { range: () => [0.5 - rows.length, 0.5] } },
    axes: [
      axis(label, format, { size: 30, space: 60, splits: log ? () => powers : undefined }),
      axis('', (row) => canvasName(rows[-row]?.label ?? '', 28), {
        incrs: [1],
        space: 1,
        gap: 10,
        size: (plot) => Math.min(200, 0.44 * plot.width),
        labelSize: 0,
        grid: { show: false },
        ticks: { show: false },
      }),
    ],
    series: [{}, { paths: () => null, points: { show: false } }],
    hooks: { draw: [(plot) => paint(plot, draw, false)] },
  };
  new Plot(stage, () => height, [range, range.map(() => 0)], definition);
  return el('figure', {}, el('figcaption', {}, el('h3', {}, title)), keys.length > 0 && legend(keys), stage, el('p', { class: 'readout' }, summary));
}

function drawDot(context, { mark, colour: name }, x, y) {
  context.strokeStyle = colour(name);
  context.fillStyle = colour(mark === 'ring' ? 'paper' : name);
  context.lineWidth = 2;
  context.beginPath();
  if (mark === 'line') {
    context.moveTo(x, y - 9);
    context.lineTo(x, y + 9);
  } else {
    context.arc(x, y, 5, 0, 2 * Math.PI);
    context.fill();
  }
  context.stroke();
}
