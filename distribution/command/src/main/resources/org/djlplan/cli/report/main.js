/* Assembles the page. */

/** @type {View[]} */
const VIEWS = [
  { id: 'map', title: 'Memory map', make: mapSection },
  { id: 'delegation', title: 'Delegation', make: delegationView, part: 'delegation' },
  { id: 'budget', title: 'Budget', make: budgetView, part: 'budget' },
  { id: 'run', title: 'Run', make: runView, part: 'run' },
  { id: 'models', title: 'Several models', make: modelsView, part: 'models' },
  { id: 'workers', title: 'Workers', make: workersView, part: 'workers' },
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
  return el('div', {}, cards(report), new MapView(report).element, memoryPanelOf(report), factsPanel(report) || null);
}

/**
 * @param {unknown} error
 * @returns {HTMLElement}
 */
function failure(error) {
  const damaged = error instanceof DataError;
  return el(
    'section',
    { class: 'failure', role: 'alert' },
    el('h1', {}, 'This cannot be shown'),
    el('p', {}, damaged ? `The data of this report is damaged: ${printable(error.message)}.` : `The page failed: ${printable(String(error))}.`),
    damaged && el('p', { class: 'quiet' }, 'Make the report anew, or undo what was changed in its data.'),
  );
}

function start() {
  const page = /** @type {HTMLElement} */ (document.getElementById('page'));
  const top = /** @type {HTMLElement} */ (document.getElementById('top'));
  document.body.append(el('div', { id: 'live', class: 'unseen', role: 'status', 'aria-live': 'polite' }));
  const element = document.getElementById('data');
  page.replaceChildren(
    attempted(() => {
      const data = readData(element?.textContent ?? '');
      const two = data.reports;
      const title = two ? two.map((report) => shortened(titleOf(report), 40)).join(' and ') : shortened(titleOf(data));
      document.title = `${title} – djl-plan`;
      top.append(el('h1', {}, el('bdi', { dir: 'auto' }, title)), ...(two || data.study ? [] : [about(data)]), themeButton());
      if (data.study) {
        return studyView(data);
      }
      return two ? new CompareView(two).element : new Tabs(VIEWS, data).element;
    }),
  );
  element?.remove();
  performance.mark('page made');
}

start();
