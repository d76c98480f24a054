import { expect, it } from 'vitest'
import { RUN_BEGUN, RUN_DONE } from '../../events/views.ts'
import { createConverter } from './convert-entry.ts'

/** The lifecycle events of subgraphs, as short texts, made from the entries of a run of a Python graph. */
function lifecycleOf(entries: [event: string, data: object][], language = 'python'): string[] {
  const convert = createConverter()
  const begun: [string, object] = [RUN_BEGUN, { graph_name: 'g', attempt: 1, answered: [], language }]
  return [begun, ...entries].flatMap(([event, data], position) =>
    convert({ id: `1-${position}`, position, run_id: 'r', event, data: JSON.stringify(data) })
      .filter(({ method }) => method === 'lifecycle')
      .map(
        ({ namespace, data: told }) =>
          `${namespace.join('/')} ${(JSON.parse(told) as { event: string }).event}`,
      ),
  )
}

const done: [string, object] = [RUN_DONE, { run_status: 'success' }]
const result = { id: '1', name: 'child', result: {}, error: null, interrupts: [] }

it('subgraphs of a Python graph begin with their first entry, and end with the result of their task (V-18)', () => {
  const inside: [string, object] = ['values|child:1|deep:2', {}]
  const task = { id: '1', name: 'child', input: {}, triggers: [] }
  expect(lifecycleOf([['tasks', task], inside, inside, ['tasks', result], done])).toEqual([
    ' running',
    'child:1 started',
    'child:1/deep:2 started',
    'child:1/deep:2 completed',
    'child:1 completed',
    ' completed',
  ])
  const failed = { ...result, error: 'no' }
  const asking = { ...result, interrupts: [{ id: 'i', value: 1 }] }
  expect(
    lifecycleOf([
      ['values|child:1', {}],
      ['tasks', failed],
    ]).at(-1),
  ).toBe('child:1 failed')
  expect(
    lifecycleOf([
      ['values|child:1', {}],
      ['tasks', asking],
    ]).at(-1),
  ).toBe('child:1 interrupted')
})

it('those that have not ended end with the run; those of a TypeScript graph are in the log (V-18)', () => {
  const stopped: [string, object] = [RUN_DONE, { run_status: 'interrupted' }]
  expect(lifecycleOf([['values|child:1', {}], stopped])).toEqual([
    ' running',
    'child:1 started',
    'child:1 interrupted',
    ' interrupted',
  ])
  expect(lifecycleOf([['values|child:1', {}], done], 'javascript')).toEqual([' running', ' completed'])
})
