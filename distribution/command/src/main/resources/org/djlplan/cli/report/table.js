/* Tables of the numbers that the pictures show. */

const ROWS_PER_PAGE = 100;

/**
 * @typedef {object} Column
 * @property {string} title
 * @property {(row: any) => Child} cell
 * @property {(row: any) => number | string} [sort] the value by which rows can be sorted
 * @property {boolean} [number] whether cells are aligned right
 * @property {boolean} [head] whether the cell names the row
 */

/**
 * Returns a table with pages; its headings choose the order of rows.
 * @param {string} caption
 * @param {Column[]} columns
 * @param {any[]} rows
 * @returns {HTMLElement}
 */
function table(caption, columns, rows) {
  let shown = rows;
  let page = 0;
  /** @type {{ column: Column | null, up: boolean }} */
  let order = { column: null, up: true };
  const body = el('tbody');
  const heads = columns.map((column) => el('th', { scope: 'col', class: column.number && 'number' }));
  const place = el('span', { class: 'quiet' });
  const back = el('button', { type: 'button', click: () => turn(-1) }, 'Previous');
  const on = el('button', { type: 'button', click: () => turn(1) }, 'Next');

  columns.forEach((column, i) => {
    const { sort } = column;
    heads[i].append(sort ? el('button', { type: 'button', class: 'sort', click: () => sortBy(column) }, column.title) : column.title);
  });

  /** @param {number} by */
  function turn(by) {
    page += by;
    fill();
  }

  /** @param {Column} column */
  function sortBy(column) {
    const key = /** @type {(row: any) => number | string} */ (column.sort);
    order = { column, up: order.column === column ? !order.up : !column.number };
    const sign = order.up ? 1 : -1;
    shown = rows
      .map((row) => ({ row, key: key(row) }))
      .sort((a, b) => sign * (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
      .map((each) => each.row);
    heads.forEach((head, i) => {
      if (columns[i] === column) {
        head.setAttribute('aria-sort', order.up ? 'ascending' : 'descending');
      } else {
        head.removeAttribute('aria-sort');
      }
    });
    page = 0;
    fill();
  }

  function fill() {
    const pages = Math.max(1, Math.ceil(shown.length / ROWS_PER_PAGE));
    const from = page * ROWS_PER_PAGE;
    body.replaceChildren(...shown.slice(from, from + ROWS_PER_PAGE).map(rowOf));
    place.textContent = `rows ${count(from + 1)}–${count(Math.min(from + ROWS_PER_PAGE, shown.length))} of ${count(shown.length)}`;
    back.disabled = page === 0;
    on.disabled = page === pages - 1;
  }

  /** @param {any} row */
  function rowOf(row) {
    return el(
      'tr',
      {},
      columns.map((column) =>
        column.head
          ? el('th', { scope: 'row', class: column.number && 'number' }, column.cell(row))
          : el('td', { class: column.number && 'number' }, column.cell(row)),
      ),
    );
  }

  fill();
  return el(
    'div',
    { class: 'table' },
    el(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
      el('table', {}, el('caption', {}, caption), el('thead', {}, el('tr', {}, heads)), body),
    ),
    rows.length > ROWS_PER_PAGE && el('div', { class: 'pages' }, back, on, place),
  );
}

/**
 * Returns a table that is made when it is opened.
 * @param {string} caption
 * @param {Column[]} columns
 * @param {any[]} rows
 * @param {string} [note] below it
 * @returns {HTMLElement}
 */
function foldedTable(caption, columns, rows, note = '') {
  const folded = el('details', { class: 'folded' }, el('summary', {}, `${caption}: ${counted(rows.length, 'row')}`));
  folded.addEventListener(
    'toggle',
    () => folded.append(table(caption, columns, rows), ...(note ? [el('p', { class: 'quiet' }, note)] : [])),
    { once: true },
  );
  return folded;
}

/**
 * @param {[string, Child][]} facts
 * @returns {HTMLElement}
 */
function factList(facts) {
  return el(
    'dl',
    { class: 'facts' },
    facts
      .filter(([, value]) => value !== null && value !== undefined && value !== false)
      .map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))),
  );
}
