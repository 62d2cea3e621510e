/* Tables of the numbers that the pictures show. */

const ROWS_PER_PAGE = 100;

/** A column of text. The first column names the rows. */
function text(title, of, format = named) {
  return { title, of, format };
}

/** A column of numbers, aligned right. */
function number(title, of, format = count) {
  return { title, of, format, number: true };
}

/** Columns of a table whose cells are texts in lists; those of numbers are aligned right. */
function plainColumns(titles, isNumber = () => true) {
  return titles.map((title, i) => ({ title, of: (row) => row[i], format: (cell) => cell, number: i > 0 && isNumber(i), fixed: true }));
}

/** Returns a table with pages; its headings choose the order of rows. */
function table(caption, columns, rows) {
  let shown = rows;
  let page = 0;
  let order = null;
  let up = true;
  const pages = Math.max(1, Math.ceil(rows.length / ROWS_PER_PAGE));
  const body = el('tbody');
  const place = el('span', { class: 'quiet' });
  const turn = (by) => {
    page += by;
    fill();
  };
  const back = el('button', { type: 'button', click: () => turn(-1) }, 'Previous');
  const on = el('button', { type: 'button', click: () => turn(1) }, 'Next');
  const heads = columns.map((column) =>
    el(
      'th',
      { scope: 'col', class: column.number && 'number' },
      column.fixed ? column.title : el('button', { type: 'button', class: 'sort', click: () => sortBy(column) }, column.title),
    ),
  );

  function sortBy(column) {
    up = order === column ? !up : !column.number;
    order = column;
    const key = (row) => column.of(row) ?? (column.number ? -Infinity : '');
    const sorted = [...rows].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
    shown = up ? sorted : sorted.reverse();
    heads.forEach((head) => head.removeAttribute('aria-sort'));
    heads[columns.indexOf(column)].setAttribute('aria-sort', up ? 'ascending' : 'descending');
    page = 0;
    fill();
  }

  function cellOf(row, column, i) {
    const value = column.of(row);
    const content = value === undefined || value === null ? '–' : column.format(value);
    return el(i === 0 ? 'th' : 'td', { scope: i === 0 && 'row', class: column.number && 'number' }, content);
  }

  function fill() {
    const from = page * ROWS_PER_PAGE;
    const part = shown.slice(from, from + ROWS_PER_PAGE);
    body.replaceChildren(...part.map((row) => el('tr', {}, columns.map((column, i) => cellOf(row, column, i)))));
    place.textContent = `rows ${count(from + 1)}–${count(from + part.length)} of ${count(shown.length)}`;
    back.disabled = page === 0;
    on.disabled = page === pages - 1;
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
    pages > 1 && el('div', { class: 'pages' }, back, on, place),
  );
}

/** Returns a table that is made when it is opened, with an optional note below it. */
function foldedTable(caption, columns, rows, note) {
  const folded = el('details', { class: 'folded' }, el('summary', {}, `${caption}: ${counted(rows.length, 'row')}`));
  const fill = () => folded.append(table(caption, columns, rows), ...(note ? [el('p', { class: 'quiet' }, note)] : []));
  folded.addEventListener('toggle', fill, { once: true });
  return folded;
}
