import { expect, it } from 'vitest'
import { leastMoney, leastShort } from './least-money.ts'

it('an amount that leaves out calls is the least that it can be, and nothing known is no price', () => {
  expect([leastMoney('0.02134', 0), leastMoney('0.02134', 2)]).toEqual(['$0.02134', '≥ $0.02134'])
  expect([leastShort('0.02134', 0), leastShort('0.02134', 2)]).toEqual(['$0.0213', '≥ $0.0213'])
  expect([leastShort(null, 2), leastShort(undefined, 0)]).toEqual(['no price', '–'])
})
