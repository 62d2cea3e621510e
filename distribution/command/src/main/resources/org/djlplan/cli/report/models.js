/* Several models in one arena, and workers that share a pool. */

/**
 * @param {any} report
 * @returns {HTMLElement}
 */
function modelsView(report) {
  const models = report.models ?? [];
  if (models.length === 0) {
    return emptyState('This report is of one model.', 'djlplan report MODEL --with MODEL2 --html FILE');
  }
  const sum = models.reduce((total, model) => total + model.arenaBytes, 0);
  const most = models.reduce((largest, model) => Math.max(largest, model.arenaBytes), 1);
  const pictured = models.filter((model) => model.plan);
  const scale = Math.max(most, ...pictured.map((model) => bestStrategy(model.plan).totalBytes));
  return el(
    'div',
    {},
    el(
      'section',
      { class: 'panel' },
      el('h2', {}, 'Models that take turns in one arena'),
      el('p', {}, `One arena of ${bytes(most)} serves ${counted(models.length, 'model')} that take turns; with an arena each they would need ${bytes(sum)}.`),
      bars(models.map((model) => ({ name: model.name, bytes: model.arenaBytes, colour: 'arena' })), most),
    ),
    pictured.length > 0 && el('div', { class: 'columns' }, pictured.map((model) => modelPanel(model, scale))),
    foldedTable(
      'Models',
      [
        { title: 'Model', head: true, cell: (each) => named(each.name), sort: (each) => each.name },
        { title: 'Arena', number: true, cell: (each) => count(each.arenaBytes), sort: (each) => each.arenaBytes },
        { title: 'Used from', cell: (each) => (each.usedFrom === undefined || each.usedFrom === null ? '–' : shortened(String(each.usedFrom))) },
      ],
      models,
    ),
  );
}

/**
 * @param {any} model with a plan
 * @param {number} scale of all models, in bytes
 */
function modelPanel(model, scale) {
  const strategy = bestStrategy(model.plan);
  const scene = new Scene(model.plan, strategy);
  const view = new Viewport(scene.steps, scale);
  const panel = new MapPanel(scene, view, `Memory map of ${shortened(model.name)}`, { choose: (index) => announceTensor(panel, index) });
  panel.state.boundBytes = boundOf(model.plan, strategy);
  panel.element.classList.add('small');
  return el('section', { class: 'panel' }, el('h2', {}, wholeName(model.name)), panel.element);
}

/**
 * @param {{ name: string, bytes: number, colour: string }[]} rows
 * @param {number} most bytes of the longest bar
 * @returns {HTMLElement}
 */
function bars(rows, most) {
  return el(
    'ul',
    { class: 'bars' },
    rows.map((row) => {
      const bar = el('span', { class: 'bar thick', 'aria-hidden': 'true' });
      bar.style.setProperty('--share', `${(100 * row.bytes) / Math.max(1, most)}%`);
      bar.style.setProperty('--bar', `var(--${row.colour})`);
      return el('li', {}, named(row.name, 40), el('span', { class: 'plan-size' }, bytes(row.bytes)), bar);
    }),
  );
}

/**
 * @param {any} report
 * @returns {HTMLElement}
 */
function workersView(report) {
  const samples = [...(report.workers?.samples ?? [])].sort((a, b) => a.nanos - b.nanos);
  if (samples.length === 0) {
    return emptyState('No workers were watched.', 'djlplan report MODEL --predictors 8 --html FILE');
  }
  const busiest = samples.reduce((most, sample) => Math.max(most, sample.busy), 0);
  const longest = samples.reduce((most, sample) => Math.max(most, sample.waiting ?? 0), 0);
  const chart = new Chart({
    title: 'Workers over time',
    summary: `At most ${counted(busiest, 'worker')} busy, and ${counted(longest, 'prediction')} waiting.`,
    x: samples.map((sample) => sample.nanos),
    xLabel: 'time',
    yLabel: 'predictions',
    xFormat: time,
    yFormat: digits,
    xKind: 'time',
    lines: [
      { label: 'waiting', values: samples.map((sample) => sample.waiting ?? 0), colour: 'io', stepped: true, fill: true },
      { label: 'busy', values: samples.map((sample) => sample.busy), colour: 'arena', stepped: true, fill: true },
    ],
  });
  return el(
    'div',
    {},
    el('section', { class: 'panel' }, chart.element),
    foldedTable(
      'Workers',
      [
        { title: 'At', head: true, number: true, cell: (each) => time(each.nanos), sort: (each) => each.nanos },
        { title: 'Busy', number: true, cell: (each) => count(each.busy), sort: (each) => each.busy },
        { title: 'Waiting', number: true, cell: (each) => count(each.waiting ?? 0), sort: (each) => each.waiting ?? 0 },
      ],
      samples,
    ),
  );
}
