import { expect, it } from 'vitest'
import { editDistance } from './edit-distance.ts'

it.each([
  ['port', 'port', 0],
  ['port', 'prt', 1],
  ['port', 'ports', 1],
  ['port', 'post', 1],
  ['port', 'prot', 1],
  ['form', 'format', 2],
  ['', 'abc', 3],
  ['ca', 'abc', 3],
])('%s and %s are %i letters apart', (a, b, distance) => {
  expect([editDistance(a, b), editDistance(b, a)]).toEqual([distance, distance])
})
