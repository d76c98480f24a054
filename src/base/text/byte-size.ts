const SIZE = /^(\d+(?:\.\d+)?)\s*([KMGT])?(i)?B?$/i
const UNITS = ['', 'KiB', 'MiB', 'GiB', 'TiB']

/** Parses `512MiB`, `1.5GB` or `1048576` to bytes; undefined for other text. */
export function parseSize(text: string): number | undefined {
  const match = SIZE.exec(text)
  if (match === null) return undefined
  const [, digits, prefix, binary] = match
  const power = prefix === undefined ? 0 : 'KMGT'.indexOf(prefix.toUpperCase()) + 1
  return Math.round(Number(digits) * (binary === undefined ? 1000 : 1024) ** power)
}

/** Formats 4294967296 as `4GiB`; a number that is not a multiple of a unit as digits. */
export function sizeText(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1024 && value % 1024 === 0 && unit < UNITS.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${value}${UNITS[unit]}`
}
