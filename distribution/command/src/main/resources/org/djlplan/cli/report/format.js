/* Formats numbers for people. */

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const TIME_UNITS = { s: 1e9, ms: 1e6, µs: 1e3, ns: 1 };

/** Returns a number with three significant digits, without trailing zeros. */
function digits(value) {
  const size = Math.abs(value);
  if (size >= 1e15 || (size > 0 && size < 1e-4)) {
    return value.toExponential(2);
  }
  return size >= 100 ? count(Math.round(value)) : String(Number(value.toPrecision(3)));
}

/** Returns a whole number with thin spaces between thousands. */
function count(value) {
  return String(value).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

/** Returns, for example, "1 tensor" or "62 tensors". */
function counted(howMany, one, many = `${one}s`) {
  return `${count(howMany)} ${howMany === 1 ? one : many}`;
}

/** Returns, for example, "4.02 MiB". */
function bytes(value) {
  let unit = 0;
  let scaled = value;
  while (Math.abs(scaled) >= 1000 && unit < BYTE_UNITS.length - 1) {
    scaled /= 1024;
    unit++;
  }
  return `${digits(scaled)} ${BYTE_UNITS[unit]}`;
}

/** Returns, for example, "4.02 MiB (4 214 784 B)". */
function exactBytes(value) {
  return value < 1000 ? bytes(value) : `${bytes(value)} (${count(value)} B)`;
}

/** Formats nanoseconds, for example as "9.3 ms". */
function time(nanos) {
  const [unit, size] = Object.entries(TIME_UNITS).find(([, each]) => Math.abs(nanos) >= each) ?? ['ns', 1];
  return `${digits(nanos / size)} ${unit}`;
}

/** Formats a ratio to a stock figure. */
function ratio(value) {
  return `× ${value.toFixed(value < 10 ? 3 : 1)}`;
}

/** Formats a number that may be absent. */
function known(value, format) {
  return Number.isFinite(value) ? format(value) : '–';
}
