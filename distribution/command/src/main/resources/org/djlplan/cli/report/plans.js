/* Interprets the numbers of plans, and shows them in tables. */

/** Plans up to this many times as large as the best one are in the picture at first. */
const NEAR_THE_BEST = 1.15;

/** Returns the plan that a map shows first. */
function bestStrategy(plan) {
  return plan.strategies.find((strategy) => strategy.name === plan.best) ?? plan.strategies[0];
}

/** Returns the number of tensors that plans place; inputs and outputs are the user's. */
function plannedTensors(plan) {
  return bestStrategy(plan).offsets.filter((offset) => offset !== null).length;
}

/**
 * Returns the addresses that a map shows at first: enough for the best plan and those hardly larger.
 * At the scale of a naive plan, the others would be mere lines.
 */
function commonBytes(plan) {
  const best = bestStrategy(plan).totalBytes;
  return Math.max(1, ...plan.strategies.map((each) => each.totalBytes).filter((total) => total <= NEAR_THE_BEST * best));
}

function largestBytes(plan) {
  return Math.max(1, ...plan.strategies.map((strategy) => strategy.totalBytes));
}

/** Returns the lower bound in bytes that applies to a plan; 0 if none is known. */
function boundOf(plan, strategy) {
  if (strategy.layout === 'shared-objects') {
    return plan.sharedObjectsLowerBoundBytes ?? 0;
  }
  // If tensors share places, a plan may be smaller than the bound without sharing.
  const bound = plan.lowerBoundBytes ?? 0;
  return strategy.name.includes('in-place') || bound > strategy.totalBytes ? plan.aliasedLowerBoundBytes ?? 0 : bound;
}

/** Returns whether operators are known; they are not for a file of records. */
function knowsOperators(plan) {
  return plan.operators.some((type) => type !== '');
}

/** Returns the word for the steps of time. */
function stepWord(plan) {
  return plan.recorded ? 'allocations and frees' : knowsOperators(plan) ? 'operators' : 'steps';
}

/** Returns a step's number in the file. */
function stepNumber(plan, step) {
  return count(plan.stepNumbers?.[step] ?? step);
}

/** Returns, for example, "12 CONV_2D". */
function operatorName(plan, step) {
  const type = plan.operators[step];
  return `${stepNumber(plan, step)}${type ? ` ${shortened(type, 40)}` : ''}`;
}

function minimalBadge(words) {
  return el('span', { class: 'badge', title: 'No plan with this order and these sizes can be smaller' }, words);
}

function tensorTable(plan) {
  const best = bestStrategy(plan);
  return foldedTable(
    'Tensors',
    [
      text('Name', ({ tensor }) => tensor.name),
      text('Type', ({ tensor }) => arrayType(tensor), String),
      number('Bytes', ({ tensor }) => tensor.bytes),
      number('First', ({ tensor }) => tensor.first),
      number('Last', ({ tensor }) => tensor.last),
      number(`Offset in ${shortened(best.name, 24)}`, ({ i }) => best.offsets[i]),
      text('Owner', ({ tensor }) => ownerOf(tensor).label, String),
      ...(knowsOperators(plan) ? [text('Made by', ({ tensor }) => plan.operators[tensor.producer] || null)] : []),
    ],
    plan.tensors.map((tensor, i) => ({ tensor, i })),
  );
}

function strategyTable(plan) {
  return foldedTable(
    'Plans',
    [
      text('Strategy', (strategy) => strategy.name),
      text('Layout', (strategy) => strategy.layout),
      number('Bytes', (strategy) => strategy.totalBytes),
      number('Lower bound', (strategy) => boundOf(plan, strategy) || null),
      text('Minimal', (strategy) => (strategy.provedMinimal ? 'proved' : 'not proved'), String),
      number('Planned in', (strategy) => strategy.millis, (millis) => time(millis * 1e6)),
    ],
    plan.described,
  );
}

function operatorTable(plan) {
  const operators = knowsOperators(plan);
  return foldedTable(
    operators && !plan.recorded ? 'Operators' : 'Steps',
    [
      number('Step', (step) => step, (step) => stepNumber(plan, step)),
      ...(operators ? [text('Operator', (step) => plan.operators[step] || null)] : []),
      number('Bytes alive', (step) => plan.breadthBytes[step]),
    ],
    plan.operators.map((_, step) => step),
    operators && plan.recorded
      ? 'Named are steps at which a planned allocation is made, by the operator that the model calls there, as the engine names it. Others free memory, or allocate outside the arena.'
      : '',
  );
}
