/* Rows of points on one axis; a row can have a range in which its true value lies. */

const ROW_HEIGHT = 26;
const DOT_FONT = 12;

/**
 * @typedef {object} Dot
 * @property {number} value
 * @property {string} colour name
 * @property {'dot' | 'ring' | 'line'} [mark]
 */

/**
 * @typedef {object} DotRow
 * @property {string} label
 * @property {Dot[]} dots
 * @property {number} [low]
 * @property {number} [high]
 * @property {boolean} [strong]
 */

/**
 * @param {string} title
 * @param {string} summary
 * @param {DotRow[]} rows
 * @param {{ format: (value: number) => string, log?: boolean, label: string }} axis
 * @param {HTMLElement} [key] a legend
 * @returns {HTMLElement}
 */
function dotPlot(title, summary, rows, axis, key) {
  const stage = el('div', { class: 'dots' });
  new ResizeObserver(() => {
    if (stage.clientWidth > 60) {
      stage.replaceChildren(dotPicture(`${title}. ${summary}`, rows, axis, stage.clientWidth));
    }
  }).observe(stage);
  return el('figure', {}, el('figcaption', {}, el('h3', {}, title)), key, stage, el('p', { class: 'readout' }, summary));
}

/**
 * @param {DotRow[]} rows
 * @param {boolean} log
 * @returns {{ place: (value: number) => number, ticks: number[] }} places as fractions of the axis,
 *   and the values of the ticks
 */
function dotScale(rows, log) {
  const values = rows.flatMap((row) => [...row.dots.map((dot) => dot.value), row.low ?? NaN, row.high ?? NaN]).filter((value) => Number.isFinite(value));
  if (log) {
    const positive = values.filter((value) => value > 0);
    const low = Math.floor(Math.log10(Math.min(...positive, 1)) - 1e-9);
    const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...positive, 10 ** low))));
    const every = Math.ceil((high - low) / 8);
    const powers = [];
    for (let power = low; power <= high; power += every) {
      powers.push(10 ** power);
    }
    return { place: (value) => (value > 0 ? Math.max(0, Math.min(1, (Math.log10(value) - low) / (high - low))) : 0), ticks: powers };
  }
  const high = Math.max(...values, 1e-9) * 1.04;
  return { place: (value) => value / high, ticks: ticks(0, high, decimalStep(high, 6)) };
}

/**
 * @param {string} label
 * @param {DotRow[]} rows
 * @param {{ format: (value: number) => string, log?: boolean, label: string }} axis
 * @param {number} width
 * @returns {SVGElement}
 */
function dotPicture(label, rows, axis, width) {
  const scale = dotScale(rows, axis.log === true);
  const left = Math.min(210, Math.floor(width * 0.44));
  const right = width - 26;
  const bottom = 8 + rows.length * ROW_HEIGHT;
  const x = (/** @type {number} */ value) => left + scale.place(value) * (right - left);
  const characters = Math.floor((left - 12) / 6.7);
  const picture = svg('svg', { width, height: bottom + 44, role: 'img', 'aria-label': label, class: 'dot-picture' });
  const shown = scale.ticks.filter((_, i) => i % Math.max(1, Math.ceil((scale.ticks.length * 62) / (right - left))) === 0);
  for (const tick of shown) {
    picture.append(
      svg('line', { x1: x(tick), x2: x(tick), y1: 4, y2: bottom, class: 'grid' }),
      svg('text', { x: x(tick), y: bottom + 16, class: 'tick', 'text-anchor': 'middle' }, axis.format(tick)),
    );
  }
  picture.append(svg('text', { x: (left + right) / 2, y: bottom + 36, class: 'tick', 'text-anchor': 'middle' }, axis.label));
  rows.forEach((row, i) => {
    const y = 8 + (i + 0.5) * ROW_HEIGHT;
    if (row.strong) {
      picture.append(svg('rect', { x: 0, y: y - ROW_HEIGHT / 2, width, height: ROW_HEIGHT, rx: 4, class: 'strong' }));
    }
    picture.append(
      svg('text', { x: left - 10, y: y + DOT_FONT / 3, class: row.strong ? 'row strong-text' : 'row', 'text-anchor': 'end' }, canvasName(row.label, characters)),
    );
    if (row.low !== undefined && row.high !== undefined) {
      picture.append(svg('line', { x1: x(row.low), x2: Math.max(x(row.low) + 1, x(row.high)), y1: y, y2: y, class: 'whisker' }));
    }
    for (const dot of row.dots) {
      picture.append(dotMark(dot, x(dot.value), y));
    }
  });
  return picture;
}

/**
 * @param {Dot} dot
 * @param {number} x
 * @param {number} y
 * @returns {SVGElement}
 */
function dotMark(dot, x, y) {
  const mark =
    dot.mark === 'line'
      ? svg('line', { x1: x, x2: x, y1: y - 9, y2: y + 9, 'stroke-width': 2.5 })
      : svg('circle', { cx: x, cy: y, r: 5, 'stroke-width': 2 });
  mark.style.stroke = `var(--${dot.colour})`;
  mark.style.fill = dot.mark === 'ring' ? 'var(--paper)' : `var(--${dot.colour})`;
  return mark;
}
