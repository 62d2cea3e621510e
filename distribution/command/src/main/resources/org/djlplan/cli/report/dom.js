/* Builds the document. Text from the data is inserted as text, never as markup. */

const LONGEST_NAME = 72;

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} [attributes] functions are listeners; false and null mean that the
 *   attribute is absent
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[T]}
 */
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  assign(element, attributes);
  append(element, children);
  return element;
}

/**
 * @param {string} tag of SVG
 * @param {Record<string, any>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  assign(element, attributes);
  append(element, children);
  return element;
}

/**
 * @param {Element} element
 * @param {Record<string, any>} attributes
 */
function assign(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') {
      element.addEventListener(name, value);
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
}

/**
 * @param {Element} element
 * @param {(Child | Child[])[]} children
 */
function append(element, children) {
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) {
      element.append(child instanceof Node ? child : String(child));
    }
  }
}

/**
 * Replaces control characters, so that text from the data cannot change how text beside it is
 * shown.
 * @param {string} text
 * @returns {string} the text with a dot for each control character
 */
function printable(text) {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, '·');
}

/**
 * @param {string} text
 * @param {number} [most] maximum number of characters
 * @returns {string} the text, or beginning and end of a long one
 */
function shortened(text, most = LONGEST_NAME) {
  if (text.length <= most) {
    return printable(text);
  }
  const all = Array.from(text.slice(0, most * 2));
  const end = Array.from(text.slice(-most * 2)).slice(-Math.floor(most / 3));
  return printable(`${all.slice(0, most - end.length - 1).join('')}…${end.join('')}`);
}

/**
 * @param {string} text a name of the data
 * @param {number} [most] maximum number of characters shown
 * @returns {HTMLElement}
 */
function named(text, most) {
  if (text === '') {
    return el('span', { class: 'quiet' }, 'without a name');
  }
  return el('bdi', { dir: 'auto', class: 'name' }, shortened(text, most));
}

/**
 * @param {string} text
 * @returns {HTMLElement} the name, and a way to see all of it if it is long
 */
function wholeName(text) {
  return el(
    'span',
    {},
    named(text),
    text.length > LONGEST_NAME &&
      el(
        'details',
        { class: 'whole' },
        el('summary', {}, `all ${count(text.length)} characters`),
        el('bdi', { dir: 'auto', class: 'name' }, printable(text)),
      ),
  );
}

/**
 * @param {string} text for a canvas, whose direction is left to right
 * @param {number} most
 * @returns {string}
 */
function canvasName(text, most) {
  return `\u2068${shortened(text, most)}\u2069`;
}

/**
 * @param {number[] | null | undefined} shape
 * @param {string | null | undefined} type
 * @returns {string} for example "1 × 224 × 224 × 3 float32"
 */
function arrayType(shape, type) {
  const sizes = shape ? (shape.length === 0 ? 'scalar' : shape.map(count).join(' × ')) : '';
  return [sizes, type ? printable(type) : ''].filter((each) => each !== '').join(' ') || '–';
}

/**
 * Announces the selection to screen readers. All views share one region of the page for this.
 * @param {string} text
 */
function announce(text) {
  const region = document.getElementById('live');
  if (region) {
    region.textContent = text;
  }
}

/**
 * @param {string} text
 * @returns {HTMLElement} a placeholder for a part that the data lacks, with the command that makes
 *   it
 */
function emptyState(text, command) {
  return el('div', { class: 'empty' }, el('p', {}, text), el('p', {}, el('code', {}, command)));
}
