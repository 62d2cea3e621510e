/* Formats numbers for people. */

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const TIME_UNITS = [
  { nanos: 1, name: 'ns' },
  { nanos: 1e3, name: 'µs' },
  { nanos: 1e6, name: 'ms' },
  { nanos: 1e9, name: 's' },
];

/**
 * Returns a number with three significant digits, without trailing zeros.
 * @param {number} value
 * @returns {string}
 */
function digits(value) {
  if (value === 0) {
    return '0';
  }
  const size = Math.abs(value);
  if (size >= 1e15 || size < 1e-4) {
    return value.toExponential(2);
  }
  if (size >= 100) {
    return count(Math.round(value));
  }
  return String(Number(value.toPrecision(3)));
}

/**
 * Returns a whole number with thin spaces between thousands.
 * @param {number} value
 * @returns {string}
 */
function count(value) {
  return String(value).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

/**
 * @param {number} howMany
 * @param {string} one
 * @param {string} [many]
 * @returns {string} for example "1 tensor", "62 tensors"
 */
function counted(howMany, one, many = `${one}s`) {
  return `${count(howMany)} ${howMany === 1 ? one : many}`;
}

/**
 * @param {number} value in bytes
 * @returns {string} for example "4.02 MiB"
 */
function bytes(value) {
  let unit = 0;
  let scaled = value;
  while (Math.abs(scaled) >= 1000 && unit < BYTE_UNITS.length - 1) {
    scaled /= 1024;
    unit++;
  }
  return `${digits(scaled)} ${BYTE_UNITS[unit]}`;
}

/**
 * @param {number} value in bytes
 * @returns {string} for example "4.02 MiB (4 214 784 B)"
 */
function exactBytes(value) {
  return Math.abs(value) < 1000 ? bytes(value) : `${bytes(value)} (${count(value)} B)`;
}

/**
 * @param {number} value in nanoseconds
 * @returns {string} for example "9.3 ms"
 */
function time(value) {
  const unit = TIME_UNITS.filter((each) => Math.abs(value) >= each.nanos).pop() ?? TIME_UNITS[0];
  return `${digits(value / unit.nanos)} ${unit.name}`;
}

/**
 * @param {number} value a ratio to a stock figure
 * @returns {string}
 */
function ratio(value) {
  return `× ${value.toFixed(value < 10 ? 3 : 1)}`;
}

/**
 * Returns the distance between ticks of an axis in bytes: a power of two, so that labels are short.
 * @param {number} span in bytes
 * @param {number} most how many ticks there is room for
 * @returns {number} bytes between two ticks
 */
function byteStep(span, most) {
  const least = span / Math.max(1, most);
  return 2 ** Math.max(0, Math.ceil(Math.log2(Math.max(least, 1e-9))));
}

/**
 * @param {number} span
 * @param {number} most how many ticks there is room for
 * @returns {number} 1, 2 or 5 times a power of ten, with at most that many ticks
 */
function decimalStep(span, most) {
  const least = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-300)));
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= least * (1 - 1e-9)) ?? 10 * power;
}

/**
 * @param {number} low
 * @param {number} high
 * @param {number} step
 * @returns {number[]} the multiples of step from low to high
 */
function ticks(low, high, step) {
  const all = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-9) && all.length < 1000; i++) {
    all.push(i * step);
  }
  return all;
}
