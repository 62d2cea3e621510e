/* Interprets the numbers of plans, and shows them in tables. */

/** Plans up to this many times as large as the best one are in the picture at first. */
const NEAR_THE_BEST = 1.15;

/**
 * Returns the strategy that a map shows first.
 * @param {any} plan
 * @returns {any}
 */
function bestStrategy(plan) {
  const valid = plan.strategies.filter((strategy) => strategy.valid !== false && strategy.layout !== 'naive');
  const smallest = valid.reduce((a, b) => (a && a.totalBytes <= b.totalBytes ? a : b), undefined);
  return plan.strategies.find((strategy) => strategy.name === plan.best) ?? smallest ?? plan.strategies[0];
}

/**
 * @param {any} plan
 * @returns {number} the number of tensors that plans place; inputs and outputs are the user's
 */
function plannedTensors(plan) {
  return bestStrategy(plan).offsets.reduce((placed, offset) => placed + (offset === null ? 0 : 1), 0);
}

/**
 * Returns the part of the shared address axis that a map shows at first: enough for the best plan
 * and those hardly larger. At the scale of a naive plan, the others would be mere lines.
 * @param {any} plan
 * @returns {number} bytes
 */
function commonBytes(plan) {
  const best = bestStrategy(plan).totalBytes;
  return plan.strategies.reduce((most, { totalBytes }) => (totalBytes <= NEAR_THE_BEST * best ? Math.max(most, totalBytes) : most), Math.max(1, best));
}

/**
 * @param {any} plan
 * @param {any} strategy
 * @returns {number} the lower bound in bytes that applies to the strategy; 0 if none is known
 */
function boundOf(plan, strategy) {
  if (Number.isFinite(strategy.lowerBoundBytes)) {
    return strategy.lowerBoundBytes;
  }
  if (strategy.layout === 'shared-objects') {
    return plan.sharedObjectsLowerBoundBytes ?? 0;
  }
  const bound = plan.lowerBoundBytes ?? 0;
  // If tensors share places, a plan may be smaller than the bound without sharing.
  const inPlace = strategy.name.includes('in-place') || bound > strategy.totalBytes;
  return inPlace ? plan.aliasedLowerBoundBytes ?? 0 : bound;
}

/**
 * @param {any} plan
 * @returns {string} the word for the steps of time
 */
function stepWord(plan) {
  return plan.recorded ? 'allocations and frees' : knowsOperators(plan) ? 'operators' : 'steps';
}

/**
 * @param {any} plan
 * @returns {boolean} whether operators are known; they are not for a file of records
 */
function knowsOperators(plan) {
  return plan.operators.some((type) => type !== '');
}

/**
 * @param {any} plan
 * @param {any} tensor
 * @returns {string} the type of the operator that makes the tensor
 */
function operatorOf(plan, tensor) {
  return shortened(plan.operators[tensor.producer] || '–', 60);
}

/** @param {any} plan */
function tensorTable(plan) {
  const first = bestStrategy(plan);
  const rows = plan.tensors.map((tensor, i) => ({ tensor, i }));
  return foldedTable(
    'Tensors',
    [
      { title: 'Name', head: true, cell: ({ tensor }) => named(tensor.name), sort: ({ tensor }) => tensor.name },
      { title: 'Type', cell: ({ tensor }) => arrayType(tensor.shape, tensor.type) },
      { title: 'Bytes', number: true, cell: ({ tensor }) => count(tensor.bytes), sort: ({ tensor }) => tensor.bytes },
      { title: 'First', number: true, cell: ({ tensor }) => count(tensor.first), sort: ({ tensor }) => tensor.first },
      { title: 'Last', number: true, cell: ({ tensor }) => count(tensor.last), sort: ({ tensor }) => tensor.last },
      {
        title: `Offset in ${shortened(first.name, 24)}`,
        number: true,
        cell: ({ i }) => (first.offsets[i] === null ? '–' : count(first.offsets[i])),
        sort: ({ i }) => first.offsets[i] ?? -1,
      },
      { title: 'Owner', cell: ({ tensor }) => ownerOf(tensor.owner ?? 'arena').label },
      ...(knowsOperators(plan)
        ? [{ title: 'Made by', cell: ({ tensor }) => operatorOf(plan, tensor), sort: ({ tensor }) => operatorOf(plan, tensor) }]
        : []),
    ],
    rows,
  );
}

/** @param {any} plan */
function strategyTable(plan) {
  return foldedTable(
    'Plans',
    [
      { title: 'Strategy', head: true, cell: (strategy) => named(strategy.name), sort: (strategy) => strategy.name },
      { title: 'Layout', cell: (strategy) => strategy.layout ?? '–' },
      { title: 'Bytes', number: true, cell: (strategy) => count(strategy.totalBytes), sort: (strategy) => strategy.totalBytes },
      { title: 'Lower bound', number: true, cell: (strategy) => (boundOf(plan, strategy) ? count(boundOf(plan, strategy)) : '–') },
      { title: 'Minimal', cell: (strategy) => (strategy.provedMinimal ? 'proved' : 'not proved') },
      { title: 'Planned in', number: true, cell: (strategy) => (strategy.millis === undefined || strategy.millis === null ? '–' : time(strategy.millis * 1e6)), sort: (strategy) => strategy.millis ?? -1 },
    ],
    plan.described,
  );
}

/** @param {any} plan */
function operatorTable(plan) {
  const operators = knowsOperators(plan);
  return foldedTable(
    operators && !plan.recorded ? 'Operators' : 'Steps',
    [
      { title: 'Step', head: true, cell: (step) => count(plan.stepNumbers?.[step] ?? step), sort: (step) => step, number: true },
      ...(operators ? [{ title: 'Operator', cell: (step) => (plan.operators[step] ? named(plan.operators[step]) : '–'), sort: (step) => plan.operators[step] }] : []),
      { title: 'Bytes alive', number: true, cell: (step) => count(plan.breadthBytes[step]), sort: (step) => plan.breadthBytes[step] },
    ],
    plan.operators.map((_, step) => step),
    operators && plan.recorded
      ? 'Named are steps at which a planned allocation is made, by the operator that the model calls there, as the engine names it. Others free memory, or allocate outside the arena.'
      : '',
  );
}
