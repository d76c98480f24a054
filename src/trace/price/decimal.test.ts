import fc from 'fast-check'
import { expect, it } from 'vitest'
import { divide, formatDecimal, parseDecimal } from './decimal.ts'
import { tries } from '../../../test/support/properties.ts'

it.each([
  [1.1e-6, '0.0000011'],
  ['0.0015', '0.0015'],
  ['2', '2'],
  ['-3.50', '-3.5'],
  ['1E3', '1000'],
  [0, '0'],
  ['1e-19', '0'],
  // 0.000072 with rounding errors of floating-point arithmetic.
  [Number('0.000071999999999999999'), '0.000072'],
  ['0.00007199999999999999999', '0.000072'],
  ['5e-19', '0'],
  ['-15e-19', '-0.000000000000000002'],
  ['25e-19', '0.000000000000000002'],
  ['2500000000000000001e-36', '0.000000000000000003'],
])('reads %s as %s', (written, decimal) => {
  expect(formatDecimal(parseDecimal(written)!)).toBe(decimal)
})

it.each(['', 'x', '1,5', '1e18', '9e99999', 'Infinity', null, {}, Number.NaN])('refuses %s', (written) => {
  expect(parseDecimal(written)).toBeUndefined()
})

it('rounds half to even', () => {
  expect([5n, 15n, 25n, 26n, -5n, -15n, 14n].map((value) => divide(value, 10n))).toEqual([
    0n,
    2n,
    2n,
    3n,
    0n,
    -2n,
    1n,
  ])
})

it('reads its own output', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 36n) + 1n, max: 10n ** 36n - 1n }), (value) => {
      expect(parseDecimal(formatDecimal(value))).toBe(value)
    }),
    tries(),
  )
})
