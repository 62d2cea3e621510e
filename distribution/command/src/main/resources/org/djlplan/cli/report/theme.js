/* Colours, which the style sheet defines by name, once for light and once for dark. */

/** Called when the colours have changed. @type {Set<() => void>} */
const themeListeners = new Set();

/** @type {Map<string, string>} */
const colours = new Map();

/** Changes to a colour, so that neighbours differ a little. */
const TINTS = ['', ', white 14%', ', black 9%'];

/**
 * @param {string} name of the style sheet, for example "ink"
 * @param {number} [tint] index of a change to the colour
 * @returns {string} the colour in a form that a canvas accepts
 */
function colour(name, tint = 0) {
  return computed(tint === 0 ? `var(--${name})` : `color-mix(in srgb, var(--${name})${TINTS[tint]})`);
}

/**
 * @param {string} name of the style sheet
 * @param {number} percent opacity
 * @returns {string}
 */
function translucent(name, percent) {
  return computed(`color-mix(in srgb, var(--${name}) ${percent}%, transparent)`);
}

/**
 * @param {string} expression a CSS expression
 * @returns {string} its current value
 */
function computed(expression) {
  let value = colours.get(expression);
  if (value === undefined) {
    const probe = el('span', { hidden: true });
    probe.style.color = expression;
    document.body.append(probe);
    value = getComputedStyle(probe).color;
    probe.remove();
    colours.set(expression, value);
  }
  return value;
}

/** @returns {boolean} */
function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

function themeChanged() {
  colours.clear();
  themeListeners.forEach((listener) => listener());
}

/** @returns {HTMLButtonElement} a button that switches between light and dark */
function themeButton() {
  const button = el('button', { type: 'button', id: 'theme', class: 'plain' });
  const label = () => {
    button.textContent = isDark() ? 'Light' : 'Dark';
    button.setAttribute('aria-label', isDark() ? 'Light colours' : 'Dark colours');
  };
  button.addEventListener('click', () => {
    document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
    themeChanged();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', themeChanged);
  themeListeners.add(label);
  label();
  return button;
}

/** Labels and colour names of owners, by the owners' names in the data. */
const OWNERS = new Map([
  ['arena', { label: 'arena', colour: 'arena' }],
  ['io', { label: 'inputs and outputs', colour: 'io' }],
  ['inputs and outputs', { label: 'inputs and outputs', colour: 'io' }],
  ['temporary', { label: 'temporaries', colour: 'temporary' }],
  ['packed weights', { label: 'packed weights', colour: 'packed' }],
  ['delegate workspace', { label: 'delegate workspace', colour: 'workspace' }],
  ['mapped file', { label: 'mapped file', colour: 'mapped' }],
  ['unplanned', { label: 'unplanned', colour: 'unplanned' }],
]);

/**
 * @param {string} name
 * @returns {{ label: string, colour: string }}
 */
function ownerOf(name) {
  return OWNERS.get(name) ?? { label: printable(name), colour: 'unplanned' };
}

/**
 * @param {{ label: string, colour: string, look?: '' | 'line' | 'dashed' | 'hatch' | 'faint' | 'ring' | 'round' | 'upright' }[]} entries
 * @returns {HTMLElement}
 */
function legend(entries) {
  return el(
    'ul',
    { class: 'legend' },
    entries.map(({ label, colour: name, look = '' }) => {
      const key = el('span', { class: `key ${look}`, 'aria-hidden': 'true' });
      key.style.setProperty('--key', `var(--${name})`);
      return el('li', {}, key, label);
    }),
  );
}
