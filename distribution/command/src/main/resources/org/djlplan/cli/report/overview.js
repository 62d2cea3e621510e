/* The most important figures, and the memory of the process by purpose. */

/**
 * @param {string} what
 * @param {Child} value
 * @param {Child} [note]
 * @returns {HTMLElement}
 */
function card(what, value, note) {
  return el('div', { class: 'card' }, el('span', { class: 'what' }, what), el('span', { class: 'value' }, value), el('span', { class: 'note' }, note));
}

/**
 * @param {any} plan
 * @returns {number} bytes if each tensor had memory of its own
 */
function naiveBytes(plan) {
  return plan.naiveBytes ?? plan.tensors.reduce((sum, tensor) => sum + tensor.bytes, 0);
}

/**
 * @param {any} plan
 * @param {any} engine the engine's own plan, in which inputs and outputs of the model have places
 * @returns {number} bytes of inputs and outputs
 */
function endsBytes(plan, engine) {
  return plan.tensors.reduce((sum, tensor, i) => sum + (tensor.owner === 'io' && engine.offsets[i] !== null ? tensor.bytes : 0), 0);
}

/** @param {any} report */
function cards(report) {
  const { plan } = report;
  const best = bestStrategy(plan);
  const naive = naiveBytes(plan);
  const bound = boundOf(plan, best);
  const above = bound > 0 ? best.totalBytes / bound - 1 : 0;
  const engine = plan.strategies.find((strategy) => strategy.name === 'engine');
  return el(
    'div',
    { class: 'cards' },
    card('each tensor by itself', bytes(naive), counted(plannedTensors(plan), 'tensor')),
    card('in one arena', bytes(best.totalBytes), best.totalBytes > 0 ? `${digits(naive / best.totalBytes)} times less, ${shortened(best.name, 24)}` : shortened(best.name, 24)),
    engine && card('the engine’s own arena', bytes(engine.totalBytes), `with ${bytes(endsBytes(plan, engine))} of inputs and outputs, which are not in ours`),
    bound > 0 && card('lower bound', bytes(bound), best.provedMinimal ? minimalBadge(false) : above === 0 ? 'reached' : `plan is ${digits(100 * above)} % above`),
    card(stepWord(plan) === 'operators' ? 'operators' : 'steps', count(plan.operators.length), report.model?.bytes > 0 ? `model file ${bytes(report.model.bytes)}` : null),
  );
}

/** @param {any} report */
function about(report) {
  const { model, machine } = report;
  const words = [model?.engine, model?.view && `seen as ${model.view}`, machine?.cpu, machine?.cores && `${machine.cores} cores`, report.djlPlan && `djl-plan ${report.djlPlan}`];
  return el('p', { class: 'about' }, words.filter(Boolean).map((word) => shortened(String(word), 60)).join(' · '));
}

/**
 * @param {any} report
 * @returns {HTMLElement}
 */
function memoryPanelOf(report) {
  const memory = report.memory ?? [];
  if (memory.length === 0) {
    return emptyState('What else the model’s memory is for was not measured.', 'djlplan report MODEL --predictors 1 --html FILE');
  }
  const sum = Math.max(1, memory.reduce((total, part) => total + part.bytes, 0));
  const stack = el('div', { class: 'stack', role: 'img', 'aria-label': `Memory by owner: ${memory.map((part) => `${ownerOf(part.owner).label} ${bytes(part.bytes)}`).join(', ')}` });
  memory.forEach((part) => {
    const piece = el('span');
    piece.style.width = `${(100 * part.bytes) / sum}%`;
    piece.style.background = `var(--${ownerOf(part.owner).colour})`;
    stack.append(piece);
  });
  return el(
    'section',
    { class: 'panel' },
    el('h2', {}, 'Memory by owner'),
    stack,
    legend(memory.map((part) => ({ label: `${ownerOf(part.owner).label} ${bytes(part.bytes)}`, colour: ownerOf(part.owner).colour }))),
    foldedTable(
      'Owners',
      [
        { title: 'Owner', head: true, cell: (part) => named(ownerOf(part.owner).label) },
        { title: 'Bytes', number: true, cell: (part) => count(part.bytes), sort: (part) => part.bytes },
        { title: 'Share', number: true, cell: (part) => `${digits((100 * part.bytes) / sum)} %`, sort: (part) => part.bytes },
      ],
      memory,
    ),
  );
}

/** @param {any} report */
function factsPanel(report) {
  const rows = [
    ...Object.entries(report.model ?? {}).map(([name, value]) => ({ name: `model: ${name}`, value })),
    ...Object.entries(report.machine ?? {}).map(([name, value]) => ({ name: `machine: ${name}`, value })),
  ];
  return (
    rows.length > 0 &&
    foldedTable(
      'Model and machine',
      [
        { title: 'Fact', head: true, cell: (row) => named(row.name) },
        { title: 'Value', cell: (row) => wholeName(String(row.value)) },
      ],
      rows,
    )
  );
}
