import { expect, it } from 'vitest'
import type { CallFigures } from '../../data/playground/figures.ts'
import { linesOf } from './figure-lines.ts'

const of = (cost: string | undefined, unpriced: number): CallFigures => ({
  first_token_ms: undefined,
  duration_ms: 900,
  input_tokens: 30,
  output_tokens: 10,
  cost,
  unpriced,
})
const costOf = (own: CallFigures, source?: CallFigures) => {
  const line = linesOf(own, source).find(({ title }) => title === 'Cost')
  return [line?.value, line?.difference?.text]
}

it('a cost that leaves out a call without a price is marked, and compared with no other', () => {
  expect(costOf(of('0.02', 0), of('0.03', 0))).toEqual(['$0.02', '−$0.01'])
  expect(costOf(of(undefined, 1), of('0.03', 0))).toEqual(['no price', undefined])
  expect(costOf(of('0.02', 1), of('0.03', 0))).toEqual(['≥ $0.02', undefined])
  expect(costOf(of('0.02', 0), of('0.03', 1))).toEqual(['$0.02', undefined])
  expect(costOf(of(undefined, 0))).toEqual(['–', undefined])
})
