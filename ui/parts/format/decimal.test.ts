import { describe, expect, it } from 'vitest'
import {
  addDecimals,
  compareDecimals,
  divideDecimal,
  roundDecimal,
  shiftDecimal,
  subtractDecimals,
  fixedDecimal,
} from './decimal.ts'

describe('decimals', () => {
  it('add up without floats', () => {
    expect(addDecimals(['0.1', '0.2'])).toBe('0.3')
    expect(addDecimals(['0.000001', '0.0000068', '1.04e-05'])).toBe('0.0000182')
    expect(addDecimals(['99999999999999999999', '0.00000000000000000001'])).toBe(
      '99999999999999999999.00000000000000000001',
    )
    expect(addDecimals([])).toBe('0')
    expect(addDecimals(['1', 'much'])).toBeUndefined()
  })

  it('divide only if the quotient ends', () => {
    expect(divideDecimal('0.0000068', 17)).toBe('0.0000004')
    expect(divideDecimal('1', 8)).toBe('0.125')
    expect(divideDecimal('1', 3)).toBeUndefined()
    expect(divideDecimal('1', 0)).toBeUndefined()
  })

  it('move their point', () => {
    expect(shiftDecimal('0.0000004', 6)).toBe('0.4')
    expect(shiftDecimal('3', 2)).toBe('300')
  })

  it('round half up for narrow columns, and keep whole parts', () => {
    expect(roundDecimal('0.012345', 3)).toBe('0.0123')
    expect(roundDecimal('0.0000286', 3)).toBe('0.0000286')
    expect(roundDecimal('12345.678', 3)).toBe('12346')
    expect(roundDecimal('9.996', 3)).toBe('10')
  })

  it('compare by value', () => {
    expect(compareDecimals('0.10', '0.1')).toBe(0)
    expect(compareDecimals('2', '10')).toBe(-1)
    expect(compareDecimals('1e-2', '0.001')).toBe(1)
  })

  it('are subtracted without floats', () => {
    expect(subtractDecimals('0.3', '0.1')).toBe('0.2')
    expect(subtractDecimals('1e-2', '-0.001')).toBe('0.011')
    expect(subtractDecimals('1', 'much')).toBeUndefined()
  })
})

it('has as many decimals as a column shows', () => {
  const shown = ['0', '3.5', '0.000318', '0.00005', '12.482512435', '-0.00001', '1e-7', 'x'].map((value) =>
    fixedDecimal(value, 4),
  )
  expect(shown).toEqual(['0.0000', '3.5000', '0.0003', '0.0001', '12.4825', '0.0000', '0.0000', 'x'])
})
