/* Colours. They are named in the style sheet, once for light and once for dark. */

/** Called when the colours have changed. @type {Set<() => void>} */
const themeListeners = new Set();

/** @type {Map<string, string>} */
const colours = new Map();

/** Colours of neighbours differ a little. */
const TINTS = ['', ', white 14%', ', black 9%'];

/**
 * @param {string} name of the style sheet, for example "ink"
 * @param {number} [tint] of several
 * @returns {string} as a canvas takes it
 */
function colour(name, tint = 0) {
  return computed(tint === 0 ? `var(--${name})` : `color-mix(in srgb, var(--${name})${TINTS[tint]})`);
}

/**
 * @param {string} name of the style sheet
 * @param {number} percent of it that is left
 * @returns {string}
 */
function translucent(name, percent) {
  return computed(`color-mix(in srgb, var(--${name}) ${percent}%, transparent)`);
}

/**
 * @param {string} expression of CSS
 * @returns {string} what it stands for now
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

/** @returns {HTMLButtonElement} what switches between light and dark */
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

/** What owners are called in the data, and the names of their colours. */
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
