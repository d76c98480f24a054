import { expect, it } from 'vitest'
import type { DeploymentRun } from '../../server/deployment-run.ts'
import { errorText } from './list.ts'

const text = (error: DeploymentRun['weir']['error']): string =>
  errorText({ weir: { error } as DeploymentRun['weir'] })

it('shows the error of a failed run in one short line', () => {
  expect(text(null)).toBe('')
  expect(text({ error: 'TypeError', message: 'x is\n  not a function' })).toBe(
    'TypeError: x is not a function',
  )
  const long = text({ error: 'Error', message: 'x'.repeat(500) })
  expect(long).toMatch(/^Error: x+…$/)
  expect(long.length).toBe(80)
})
