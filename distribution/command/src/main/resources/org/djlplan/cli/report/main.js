/* Assembles the page: one view at a time, each made when it is first shown. */

const VIEWS = [
  { id: 'map', title: 'Memory map', make: mapSection },
  { id: 'delegation', title: 'Delegation', make: delegationView },
  { id: 'budget', title: 'Budget', make: budgetView },
  { id: 'run', title: 'Run', make: runView },
  { id: 'models', title: 'Several models', make: modelsView },
  { id: 'workers', title: 'Workers', make: workersView },
];

function mapSection(report) {
  return el('div', {}, cards(report), new MapView(report.plan).element, memoryPanel(report), factsTable(report));
}

/** Returns the views, and radio buttons that choose one of them. */
function views(report) {
  const panels = VIEWS.map(({ id }) => el('div', { id: `view-${id}`, hidden: true }));
  const show = (shown) => {
    panels.forEach((each, i) => (each.hidden = i !== shown));
    if (!panels[shown].hasChildNodes()) {
      panels[shown].append(attempted(() => VIEWS[shown].make(report)));
    }
    requestAnimationFrame(() => radios[shown].parentElement.scrollIntoView({ block: 'nearest', inline: 'center' }));
  };
  const radios = VIEWS.map(({ id }, i) => el('input', { type: 'radio', name: 'view', id: `tab-${id}`, change: () => show(i) }));
  const labels = VIEWS.map(({ id, title }, i) => el('label', { class: id !== 'map' && !report[id] && 'absent' }, radios[i], title));
  const wanted = () => {
    const shown = Math.max(0, VIEWS.findIndex(({ id }) => `#${id}` === location.hash));
    radios[shown].checked = true;
    show(shown);
  };
  wanted();
  addEventListener('hashchange', wanted);
  return el('div', {}, el('div', { class: 'tabs', role: 'radiogroup', 'aria-label': 'Views' }, labels), panels);
}

/** Makes a part of the page; returns an error message instead if it fails, so that the others still work. */
function attempted(make) {
  try {
    return make();
  } catch (error) {
    return el(
      'section',
      { class: 'failure', role: 'alert' },
      el('h1', {}, 'This cannot be shown'),
      el('p', {}, `The data of this report may be damaged: ${printable(String(error))}.`),
      el('p', { class: 'quiet' }, 'Make the report anew, or undo what was changed in its data.'),
    );
  }
}

/** If there are very many tensors, only the best plans have offsets; the others are only in tables. */
function pageOf(report) {
  const plans = [report.plan, ...(report.models ?? []).map((model) => model.plan)].filter(Boolean);
  for (const plan of plans) {
    plan.described = plan.strategies;
    plan.strategies = plan.strategies.filter((strategy) => strategy.offsets);
  }
  report.plan.recorded = report.model.view === 'recording';
  const title = shortened(report.model.name || 'A memory plan');
  document.title = `${title} – djl-plan`;
  document.getElementById('top').append(el('h1', {}, el('bdi', { dir: 'auto' }, title)), about(report));
  return views(report);
}

document.body.append(el('div', { id: 'live', class: 'unseen', role: 'status', 'aria-live': 'polite' }));
document.getElementById('page').replaceChildren(attempted(() => pageOf(JSON.parse(document.getElementById('data').textContent))));
performance.mark('page made');
