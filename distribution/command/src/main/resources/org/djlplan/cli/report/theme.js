/* Colours, which the style sheet defines by name, once for light and once for dark. */

/** Called when the colours have changed. */
const themeListeners = new Set();
const colours = new Map();

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  colours.clear();
  themeListeners.forEach((listener) => listener());
});

/** Changes to a colour, so that neighbours differ a little. */
const TINTS = ['', ', white 14%', ', black 9%'];

/** Returns a colour of the style sheet, in a form that a canvas accepts. */
function colour(name, tint = 0) {
  return computed(`color-mix(in srgb, var(--${name})${TINTS[tint] || ', transparent 0%'})`);
}

function translucent(name, percent) {
  return computed(`color-mix(in srgb, var(--${name}) ${percent}%, transparent)`);
}

function computed(expression) {
  if (!colours.has(expression)) {
    const probe = el('span', { hidden: true });
    probe.style.color = expression;
    document.body.append(probe);
    colours.set(expression, getComputedStyle(probe).color);
    probe.remove();
  }
  return colours.get(expression);
}

/** Colour names of owners of memory, by their labels, in the order of legends. */
const OWNERS = {
  arena: 'arena',
  'inputs and outputs': 'io',
  temporaries: 'temporary',
  'packed weights': 'packed',
  'delegate workspace': 'workspace',
  'mapped file': 'mapped',
};

function ownerOf({ owner = 'arena' }) {
  const label = owner === 'io' ? 'inputs and outputs' : owner === 'temporary' ? 'temporaries' : owner;
  return { label: printable(label), colour: Object.hasOwn(OWNERS, label) ? OWNERS[label] : 'unplanned' };
}

/** Returns a legend of entries with a label, a colour and a look, which is a class of the style sheet. */
function legend(entries) {
  const keys = entries.filter(Boolean).map(({ label, colour: name, look = '' }) => {
    const key = el('span', { class: `key ${look}`, 'aria-hidden': 'true' });
    key.style.setProperty('--key', `var(--${name})`);
    return el('li', {}, key, label);
  });
  return el('ul', { class: 'legend' }, keys);
}
