/* Builds the document. Text from the data is inserted as text, never as markup. */

const LONGEST_NAME = 72;

/** Makes an element; functions among the attributes are listeners, and false or null means none. */
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') {
      element.addEventListener(name, value);
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
  const shown = children.flat().filter((child) => child !== null && child !== undefined && child !== false);
  element.append(...shown.map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

/** Replaces control characters, which could change how text beside them is shown, with dots. */
function printable(text) {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, '·');
}

/** Returns the text, or beginning and end of a long one. */
function shortened(text, most = LONGEST_NAME) {
  if (text.length <= most) {
    return printable(text);
  }
  const end = Array.from(text.slice(-most * 2)).slice(-Math.floor(most / 3));
  const begin = Array.from(text.slice(0, most * 2)).slice(0, most - end.length - 1);
  return printable(`${begin.join('')}…${end.join('')}`);
}

/** Shows a name of the data. */
function named(text, most) {
  return text === '' ? el('span', { class: 'quiet' }, 'without a name') : el('bdi', { dir: 'auto', class: 'name' }, shortened(text, most));
}

/** Shows a name, and a way to see all of it if it is long. */
function wholeName(text) {
  const whole = () =>
    el(
      'details',
      { class: 'whole' },
      el('summary', {}, `all ${count(text.length)} characters`),
      el('bdi', { dir: 'auto', class: 'name' }, printable(text)),
    );
  return el('span', {}, named(text), text.length > LONGEST_NAME && whole());
}

/** Returns a name for a canvas, whose direction is left to right. */
function canvasName(text, most) {
  return `\u2068${shortened(text, most)}\u2069`;
}

/** Returns, for example, "1 × 224 × 224 × 3 float32". */
function arrayType({ shape, type }) {
  const sizes = shape ? (shape.length === 0 ? 'scalar' : shape.map(count).join(' × ')) : '';
  return [sizes, type ? printable(type) : ''].filter((each) => each !== '').join(' ') || '–';
}

/** Announces the selection to screen readers, in the one region of the page for this. */
function announce(text) {
  document.getElementById('live').textContent = text;
}

/** Returns a placeholder for a part that the data lacks, with the command that makes it. */
function emptyState(text, command) {
  return el('div', { class: 'empty' }, el('p', {}, text), command && el('p', {}, el('code', {}, command)));
}

function panel(...children) {
  return el('section', { class: 'panel' }, ...children);
}

/** Returns a list of names and values, without absent values. */
function factList(facts) {
  const present = facts.filter(([, value]) => value !== null && value !== undefined && value !== false);
  return el('dl', { class: 'facts' }, present.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))));
}

/** Returns a horizontal bar; its length is a share of 1. */
function bar(share, colourName, kind) {
  const element = el('span', { class: `bar ${kind}`, 'aria-hidden': 'true' });
  element.style.setProperty('--share', `${Math.min(100, 100 * share)}%`);
  element.style.setProperty('--bar', `var(--${colourName})`);
  return element;
}
