import { expect, it } from 'vitest'
import { RUN_BEGUN, RUN_DONE, RUN_ENDING } from '../../events/views.ts'
import { createConverter } from './convert-entry.ts'

function idsOf(
  entries: readonly (readonly [position: number, run_id: string, event: string, data: object])[],
) {
  const convert = createConverter()
  return entries.flatMap(([position, run_id, event, data]) =>
    convert({ id: `${1000 + position}-0`, position, run_id, event, data: JSON.stringify(data) }).map(
      ({ event_id }) => event_id,
    ),
  )
}

const BEGIN = [0, 'a', RUN_BEGUN, { graph_name: 'g', attempt: 1, answered: [] }] as const
const CANCELLED = [
  [1, 'b', RUN_ENDING, { graph_name: 'g' }],
  [2, 'b', RUN_DONE, { run_status: 'interrupted' }],
] as const
const RUNNING = 'synth:a:lc||running'
const END_OF_B = 'synth:b:lc||interrupted'

it('V-18: the end of a run that never began waits for the end of the run that goes on', () => {
  const done = [4, 'a', RUN_DONE, { run_status: 'success' }] as const
  const ids = idsOf([BEGIN, ...CANCELLED, [3, 'a', 'values', {}], done])
  expect(ids).toEqual([RUNNING, '1003-0', 'synth:a:lc||completed', END_OF_B])
})

it('V-18: it does not wait for a run whose end may be among entries that are no longer kept', () => {
  const begun = [9, 'c', RUN_BEGUN, { graph_name: 'g', attempt: 1, answered: [] }] as const
  expect(idsOf([BEGIN, ...CANCELLED, [7, 'c', 'values', {}]])).toEqual([RUNNING, END_OF_B])
  const cutBefore = [1, 2].map((n) => [n + 5, ...CANCELLED[n - 1]!.slice(1)]) as unknown as typeof CANCELLED
  expect(idsOf([BEGIN, ...cutBefore, begun])).toEqual([RUNNING, END_OF_B, 'synth:c:lc||running'])
})

it('RUN-38: integers beyond 2^53 in a question and in the input of a tool keep their digits', () => {
  const convert = createConverter()
  const texts = [
    [RUN_BEGUN, '{"graph_name":"g","attempt":1,"answered":[]}'],
    ['tools', '{"event":"on_tool_start","toolCallId":"t","name":"add","input":{"n":12345678901234567890}}'],
    ['updates', '{"__interrupt__":[{"id":"i","value":{"n":12345678901234567890}}]}'],
  ] as const
  const events = texts.flatMap(([event, data], position) =>
    convert({ id: `${1000 + position}-0`, position, run_id: 'a', event, data }),
  )
  const of = (method: string) => events.find((event) => event.method === method)?.data
  expect(of('tools')).toContain('"n":12345678901234567890')
  expect(of('input.requested')).toContain('"n":12345678901234567890')
})
