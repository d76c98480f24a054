import { expect, it } from 'vitest'
import { chosenFacet, facetClause, type FacetGroup, withFacet } from './groups.ts'

const MODEL: FacetGroup = { field: 'model', title: 'Model' }
const ENV: FacetGroup = { field: 'metadata_value', key: 'env', title: 'env' }
const TAG: FacetGroup = { field: 'tag', title: 'Tag' }

it('a value of a facet takes the place of another one of its field, and goes when it is chosen again', () => {
  const slow = 'gt(latency, "5s")'
  const one = withFacet(slow, MODEL, 'gpt "4"')
  expect(one).toBe('and(gt(latency, "5s"), eq(model, "gpt \\"4\\""))')
  const other = withFacet(one, MODEL, 'claude')
  expect(other).toBe('and(gt(latency, "5s"), eq(model, "claude"))')
  expect(withFacet(other, MODEL, 'claude')).toBe(slow)
})

it('keys of the metadata and tags are fields of their own', () => {
  const filter = withFacet(
    withFacet(withFacet('', ENV, 'prod'), TAG, 'a'),
    { ...ENV, key: 'customer' },
    'acme',
  )
  expect(filter).toBe(
    `and(${facetClause(ENV, 'prod')}, has(tags, "a"), has(metadata, "{\\"customer\\":\\"acme\\"}"))`,
  )
  expect(withFacet(filter, ENV, 'staging')).toContain('has(tags, "a")')
  expect(withFacet(filter, ENV, 'staging')).not.toContain('prod')
  expect(chosenFacet(filter, ENV, ['staging', 'prod'])).toBe('prod')
  expect(chosenFacet(filter, MODEL, ['prod'])).toBeUndefined()
})
