/* The most important figures, and the memory of the process by purpose. */

function card(what, value, note) {
  return el('div', { class: 'card' }, el('span', { class: 'what' }, what), el('span', { class: 'value' }, value), el('span', { class: 'note' }, note));
}

/** Returns the bytes of inputs and outputs in the engine's own plan. */
function endsBytes(plan, engine) {
  return plan.tensors.reduce((sum, tensor, i) => sum + (tensor.owner === 'io' && Number.isFinite(engine.offsets[i]) ? tensor.bytes : 0), 0);
}

function cards({ plan, model }) {
  const best = bestStrategy(plan);
  const bound = boundOf(plan, best);
  const above = bound > 0 ? best.totalBytes / bound - 1 : 0;
  const engine = plan.strategies.find((strategy) => strategy.name === 'engine');
  const saved = best.totalBytes > 0 ? `${digits(plan.naiveBytes / best.totalBytes)} times less, ` : '';
  return el(
    'div',
    { class: 'cards' },
    card('each tensor by itself', bytes(plan.naiveBytes), counted(plannedTensors(plan), 'tensor')),
    card('in one arena', bytes(best.totalBytes), saved + shortened(best.name, 24)),
    engine && card('the engine’s own arena', bytes(engine.totalBytes), `with ${bytes(endsBytes(plan, engine))} of inputs and outputs, which are not in ours`),
    bound > 0 && card('lower bound', bytes(bound), best.provedMinimal ? minimalBadge('proved minimal') : above === 0 ? 'reached' : `plan is ${digits(100 * above)} % above`),
    card(stepWord(plan) === 'operators' ? 'operators' : 'steps', count(plan.operators.length), model.bytes > 0 ? `model file ${bytes(model.bytes)}` : null),
  );
}

function about({ model, machine = {}, djlPlan }) {
  const words = [model.engine, `seen as ${model.view}`, machine.cpu, machine.cores && `${machine.cores} cores`, `djl-plan ${djlPlan}`];
  return el('p', { class: 'about' }, words.filter(Boolean).map((word) => shortened(String(word), 60)).join(' · '));
}

function memoryPanel({ memory = [] }) {
  if (memory.length === 0) {
    return emptyState('What else the model’s memory is for was not measured.', 'djlplan report MODEL --predictors 1 --html FILE');
  }
  const sum = Math.max(1, memory.reduce((total, part) => total + part.bytes, 0));
  const entries = memory.map((part) => ({ ...ownerOf(part), label: `${ownerOf(part).label} ${bytes(part.bytes)}` }));
  const pieces = memory.map((part, i) => {
    const piece = el('span');
    piece.style.width = `${(100 * part.bytes) / sum}%`;
    piece.style.background = `var(--${entries[i].colour})`;
    return piece;
  });
  return panel(
    el('h2', {}, 'Memory by owner'),
    el('div', { class: 'stack', role: 'img', 'aria-label': `Memory by owner: ${entries.map((entry) => entry.label).join(', ')}` }, pieces),
    legend(entries),
    foldedTable(
      'Owners',
      [
        text('Owner', (part) => ownerOf(part).label),
        number('Bytes', (part) => part.bytes),
        number('Share', (part) => part.bytes, (value) => `${digits((100 * value) / sum)} %`),
      ],
      memory,
    ),
  );
}

function factsTable({ model, machine = {} }) {
  const facts = (kind, values) => Object.entries(values).map(([name, value]) => ({ name: `${kind}: ${name}`, value: String(value) }));
  const rows = [...facts('model', model), ...facts('machine', machine)];
  return foldedTable('Model and machine', [text('Fact', (row) => row.name), text('Value', (row) => row.value, wholeName)], rows);
}
