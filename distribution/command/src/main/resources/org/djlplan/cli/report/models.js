/* Several models in one arena. */

function modelsView({ models = [] }) {
  if (models.length === 0) {
    return emptyState('This report is of one model.', 'djlplan report MODEL --with MODEL2 --html FILE');
  }
  const sum = models.reduce((total, model) => total + model.arenaBytes, 0);
  const most = models.reduce((largest, model) => Math.max(largest, model.arenaBytes), 1);
  const rows = models.map(({ name, arenaBytes }) =>
    el('li', {}, named(name, 40), el('span', { class: 'plan-size' }, bytes(arenaBytes)), bar(arenaBytes / most, 'arena', 'thick')),
  );
  return el(
    'div',
    {},
    panel(
      el('h2', {}, 'Models that take turns in one arena'),
      el('p', {}, `One arena of ${bytes(most)} serves ${counted(models.length, 'model')} that take turns; with an arena each they would need ${bytes(sum)}.`),
      el('ul', { class: 'bars' }, rows),
    ),
    el('div', { class: 'columns' }, models.map((model) => modelPanel(model, most))),
    foldedTable(
      'Models',
      [
        text('Model', (each) => each.name),
        number('Arena', (each) => each.arenaBytes),
        number('Lower bound', ({ plan }) => boundOf(plan, bestStrategy(plan))),
        number('Each tensor by itself', ({ plan }) => plan.naiveBytes),
        number('Tensors', ({ plan }) => plannedTensors(plan)),
        number('Operators', ({ plan }) => plan.operators.length),
      ],
      models,
    ),
  );
}

function modelPanel({ name, plan }, most) {
  const map = new MemoryMap(plan, `Memory map of ${shortened(name)}`, { shown: most, all: most });
  map.element.classList.add('small');
  return panel(el('h2', {}, wholeName(name)), map.element);
}
