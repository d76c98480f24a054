import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formatDecimal, parseDecimal } from './decimal.ts'
import { tries } from '../../test/support/properties.ts'

it.each([
  [1.1e-6, '0.0000011'],
  ['0.0015', '0.0015'],
  ['2', '2'],
  ['-3.50', '-3.5'],
  ['1E3', '1000'],
  [0, '0'],
  ['1e-19', '0'],
])('reads %s as %s', (written, decimal) => {
  expect(formatDecimal(parseDecimal(written)!)).toBe(decimal)
})

it.each(['', 'x', '1,5', '1e18', '9e99999', 'Infinity', null, {}, Number.NaN])(
  'does not read %s',
  (written) => {
    expect(parseDecimal(written)).toBeUndefined()
  },
)

it('reads back what it wrote', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 36n) + 1n, max: 10n ** 36n - 1n }), (value) => {
      expect(parseDecimal(formatDecimal(value))).toBe(value)
    }),
    tries(),
  )
})
