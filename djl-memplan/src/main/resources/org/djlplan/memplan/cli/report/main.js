/* Puts the page together. */

const VIEWS = [
  { id: 'map', title: 'Memory map', make: mapSection },
];

/**
 * @param {any} report
 * @returns {string}
 */
function titleOf(report) {
  return report.title || report.model?.name || 'A memory plan';
}

/** @param {any} report */
function mapSection(report) {
  return new MapView(report).element;
}

function start() {
  const page = /** @type {HTMLElement} */ (document.getElementById('page'));
  const top = /** @type {HTMLElement} */ (document.getElementById('top'));
  document.body.append(el('div', { id: 'live', class: 'unseen', role: 'status', 'aria-live': 'polite' }));
  try {
    const data = readData(document.getElementById('data')?.textContent ?? '');
    const title = titleOf(data);
    document.title = `${shortened(title)} – djl-plan`;
    top.append(el('h1', {}, named(title)), themeButton());
    page.replaceChildren(mapSection(data));
  } catch (error) {
    page.replaceChildren(failure(error));
  }
  performance.mark('page made');
}

/**
 * @param {unknown} error
 * @returns {HTMLElement}
 */
function failure(error) {
  const reason = error instanceof DataError ? error.message : 'something unexpected happened';
  return el('section', { class: 'failure', role: 'alert' }, el('h1', {}, 'This report cannot be shown'), el('p', {}, `Its data is damaged: ${reason}.`));
}

start();
