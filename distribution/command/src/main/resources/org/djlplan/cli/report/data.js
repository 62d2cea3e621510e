/*
 * The data of the report. Users may have edited it, so it is read and checked once. An error is
 * one sentence that names the place.
 */

const MOST_ITEMS = 2_000_000;

/** An error whose message tells people what is wrong with the data. */
class DataError extends Error {}

/** @typedef {(value: any, where: string) => void} Rule throws a DataError */

/**
 * @param {any} value
 * @returns {string}
 */
function found(value) {
  if (value === undefined) {
    return 'nothing';
  }
  if (Array.isArray(value)) {
    return `a list of ${value.length}`;
  }
  return value !== null && typeof value === 'object' ? 'an object' : shortened(String(JSON.stringify(value)), 40);
}

/**
 * @param {boolean} fine
 * @param {string} where
 * @param {string} expected
 * @param {any} value
 */
function expect(fine, where, expected, value) {
  if (!fine) {
    throw new DataError(`${where}: expected ${expected}, found ${found(value)}`);
  }
}

/** @type {Rule} */
const aText = (value, where) => expect(typeof value === 'string', where, 'a text', value);
/** @type {Rule} */
const aFlag = (value, where) => expect(typeof value === 'boolean', where, 'true or false', value);
/** @type {Rule} */
const aNumber = (value, where) => expect(Number.isFinite(value), where, 'a number', value);
/** @type {Rule} */
const anAmount = (value, where) => expect(Number.isFinite(value) && value >= 0, where, 'a number of zero or more', value);
/** @type {Rule} */
const anIndex = (value, where) =>
  expect(Number.isInteger(value) && value >= 0 && value < 2 ** 31, where, 'a whole number of zero or more', value);
/** @type {Rule} */
const anyText = (value, where) => expect(['string', 'number', 'boolean'].includes(typeof value), where, 'a text', value);

/**
 * @param {Rule} rule
 * @returns {Rule}
 */
function orNull(rule) {
  return (value, where) => value === null || rule(value, where);
}

/**
 * @param {Rule} rule of each item
 * @returns {Rule}
 */
function listOf(rule) {
  return (value, where) => {
    expect(Array.isArray(value) && value.length <= MOST_ITEMS, where, 'a list', value);
    for (let i = 0; i < value.length; i++) {
      rule(value[i], `${where}[${i}]`);
    }
  };
}

/**
 * @param {Record<string, Rule>} rules by key; if a key ends in a question mark, its value may be
 *   absent or null
 * @returns {Rule}
 */
function objectWith(rules) {
  const entries = Object.entries(rules).map(
    ([key, rule]) => /** @type {const} */ ([key.replace('?', ''), rule, key.endsWith('?')]),
  );
  return (value, where) => {
    expect(value !== null && typeof value === 'object' && !Array.isArray(value), where, 'an object', value);
    for (const [key, rule, optional] of entries) {
      const part = value[key];
      if (!optional || (part !== undefined && part !== null)) {
        rule(part, `${where}.${key}`);
      }
    }
  };
}

/** @type {Rule} */
const texts = (value, where) => {
  expect(value !== null && typeof value === 'object' && !Array.isArray(value), where, 'an object', value);
  Object.entries(value).forEach(([key, each]) => anyText(each, `${where}.${shortened(key, 30)}`));
};

const TENSOR = objectWith({
  name: aText,
  'shape?': listOf(aNumber),
  'type?': aText,
  bytes: anAmount,
  first: anIndex,
  last: anIndex,
  'producer?': anIndex,
  'consumers?': listOf(anIndex),
  'owner?': aText,
  'alias?': anIndex,
});

const STRATEGY = objectWith({
  name: aText,
  'layout?': aText,
  totalBytes: anAmount,
  'millis?': anAmount,
  'valid?': aFlag,
  'provedMinimal?': aFlag,
  'lowerBoundBytes?': anAmount,
  'offsets?': listOf(orNull(anAmount)),
  'objects?': listOf(objectWith({ offset: anAmount, bytes: anAmount })),
});

const PLAN = objectWith({
  operators: listOf(aText),
  'stepNumbers?': listOf(anAmount),
  tensors: listOf(TENSOR),
  breadthBytes: listOf(anAmount),
  'naiveBytes?': anAmount,
  'lowerBoundBytes?': anAmount,
  'aliasedLowerBoundBytes?': anAmount,
  'sharedObjectsLowerBoundBytes?': anAmount,
  strategies: listOf(STRATEGY),
  'best?': aText,
});

const MOMENTS = listOf(objectWith({ at: anAmount, 'bytes?': anAmount, 'name?': aText, 'nanos?': anAmount }));

const TABLES = listOf(objectWith({ title: aText, heading: listOf(aText), rows: listOf(listOf(aText)), notes: listOf(aText) }));

const REPORT = objectWith({
  'title?': aText,
  'djlPlan?': aText,
  'model?': objectWith({ 'name?': aText, 'engine?': aText, 'view?': aText, 'bytes?': anAmount, 'sha256?': aText }),
  'machine?': texts,
  'memory?': listOf(objectWith({ owner: aText, bytes: anAmount })),
  'delegation?': objectWith({
    'origin?': aText,
    'loads?': listOf(aText),
    'measuredAnewBy?': listOf(aText),
    'operators?': listOf(
      objectWith({ index: anIndex, type: aText, runs: aText, 'reason?': aText, 'partition?': anIndex, 'nanos?': anAmount }),
    ),
    'partitions?': listOf(objectWith({ operators: listOf(anIndex), 'bytesCrossing?': anAmount })),
    'candidates?': listOf(
      objectWith({
        name: aText,
        'partitions?': listOf(anIndex),
        'threads?': anIndex,
        latencyNanos: anAmount,
        'lowNanos?': anAmount,
        'highNanos?': anAmount,
        'memoryBytes?': anAmount,
        'pareto?': aFlag,
        'chosen?': aFlag,
        'verified?': aFlag,
      }),
    ),
    'outputs?': listOf(objectWith({ name: aText, difference: anAmount, 'noise?': anAmount, 'limit?': anAmount })),
  }),
  'budget?': objectWith({
    'stockPeakBytes?': anAmount,
    'stockLatencyNanos?': anAmount,
    'leastBytes?': anAmount,
    points: listOf(
      objectWith({
        budgetBytes: anAmount,
        'refused?': aText,
        'peakBytes?': anAmount,
        'latencyRatio?': anAmount,
        'lowRatio?': anAmount,
        'highRatio?': anAmount,
        'stallNanos?': anAmount,
        'binds?': aText,
        'pinnedBytes?': anAmount,
        'resident?': objectWith({
          nanos: listOf(anAmount),
          bytes: listOf(anAmount),
          'loads?': MOMENTS,
          'evictions?': MOMENTS,
          'stalls?': MOMENTS,
        }),
      }),
    ),
  }),
  'models?': listOf(objectWith({ name: aText, arenaBytes: anAmount })),
  'workers?': objectWith({ samples: listOf(objectWith({ nanos: anAmount, busy: anAmount, 'waiting?': anAmount })) }),
  'run?': objectWith({
    ways: listOf(
      objectWith({
        name: aText,
        'latencyNanos?': listOf(anAmount),
        'pageFaults?': anAmount,
        'resident?': listOf(objectWith({ nanos: anAmount, bytes: anAmount })),
        'figures?': texts,
      }),
    ),
    'tables?': TABLES,
  }),
});

const SET = objectWith({ set: aText, partitions: listOf(anIndex), 'whole?': aFlag, 'medianMillis?': anAmount });

const STUDY = objectWith({
  heading: aText,
  verdict: listOf(aText),
  sets: listOf(SET),
  partitions: listOf(objectWith({ partition: anIndex, cpuMillis: anAmount, delegateMillis: anAmount })),
  tfLiteFirstN: listOf(orNull(SET)),
  'best?': SET,
  'chosen?': SET,
  tables: TABLES,
});

/**
 * @param {any} plan
 * @param {string} where
 */
function checkPlan(plan, where) {
  PLAN(plan, where);
  const { operators, tensors, breadthBytes, strategies } = plan;
  const steps = operators.length;
  expect(breadthBytes.length === steps, `${where}.breadthBytes`, `a list of ${steps}, one for each operator`, breadthBytes);
  expect(strategies.length > 0, `${where}.strategies`, 'at least one', strategies);
  tensors.forEach((tensor, i) => {
    const at = `${where}.tensors[${i}]`;
    expect(tensor.first <= tensor.last && tensor.last < steps, `${at}.last`, `a step from first (${tensor.first}) to ${steps - 1}`, tensor.last);
    expect(!(tensor.alias >= tensors.length), `${at}.alias`, 'the index of a tensor', tensor.alias);
  });
  strategies.forEach((strategy, i) => {
    const at = `${where}.strategies[${i}]`;
    const { offsets } = strategy;
    expect(!offsets || offsets.length === tensors.length, `${at}.offsets`, `a list of ${tensors.length}, one for each tensor`, offsets);
  });
  expect(
    !plan.best || strategies.some((strategy) => strategy.name === plan.best),
    `${where}.best`,
    'the name of a strategy',
    plan.best,
  );
  // If there are very many tensors, only the best plans have offsets; the others are only in
  // tables.
  plan.described = strategies;
  plan.strategies = strategies.filter((strategy) => strategy.offsets);
  expect(plan.strategies.length > 0, `${where}.strategies`, 'one with offsets at least', strategies);
}

/**
 * @param {any} report
 * @param {string} where
 */
function checkReport(report, where) {
  REPORT(report, where);
  checkPlan(report.plan, `${where}.plan`);
  report.plan.recorded = report.model?.view === 'recording';
  (report.models ?? []).forEach((model, i) => model.plan && checkPlan(model.plan, `${where}.models[${i}].plan`));
  (report.budget?.points ?? []).forEach(({ resident }, i) =>
    expect(!resident || resident.nanos.length === resident.bytes.length, `${where}.budget.points[${i}].resident.bytes`, 'as many as nanos', resident?.bytes),
  );
}

/**
 * @param {string} text JSON
 * @returns {any} a report, an object with two reports in "reports", or an object with a "study"
 */
function readData(text) {
  let data;
  try {
    data = JSON.parse(text);
  } catch {
    throw new DataError('it is not JSON');
  }
  objectWith({ format: aNumber })(data, 'data');
  expect(data.format === 1, 'data.format', '1, which this page can show', data.format);
  if (data.study !== undefined) {
    STUDY(data.study, 'data.study');
  } else if (data.reports !== undefined) {
    listOf(() => {})(data.reports, 'data.reports');
    expect(data.reports.length === 2, 'data.reports', 'two reports', data.reports);
    data.reports.forEach((report, i) => checkReport(report, `data.reports[${i}]`));
  } else {
    checkReport(data, 'data');
  }
  return data;
}
