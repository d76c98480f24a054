import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { useDeployment } from '../conformance/deployments/use-deployment.ts'
import { jsonBody } from '../support/servers/weir-process.ts'

const ROOT = new URL('./streams/', import.meta.url)
const UPDATE = process.env['UPDATE_GOLDEN'] === '1'

/** The request bodies of the runs whose frames are recorded, by the name of the recording. */
const CASES: Record<string, object> = {
  ...Object.fromEntries(
    ['values', 'updates', 'messages', 'messages-tuple', 'events', 'debug', 'tasks', 'checkpoints'].map((mode) => [
      mode,
      { assistant_id: 'tokens', input: { tokens: 2 }, stream_mode: mode },
    ]),
  ),
  custom: { assistant_id: 'kinds', input: { kind: 'custom' }, stream_mode: 'custom' },
  several: { assistant_id: 'tokens', input: { tokens: 2 }, stream_mode: ['values', 'updates', 'messages-tuple'] },
  subgraphs: {
    assistant_id: 'kinds',
    input: { kind: 'sub' },
    stream_mode: ['updates', 'custom'],
    stream_subgraphs: true,
  },
  interrupt: { assistant_id: 'kinds', input: { kind: 'ask' }, stream_mode: ['values', 'updates'] },
  failure: { assistant_id: 'kinds', input: { kind: 'fail' }, stream_mode: 'updates' },
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b/g
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g
const EVENT_ID = /^id: \d+-\d+$/gm

/** Replaces values that differ in each run by numbers, which count up in the order in which the values appear. */
function normalised(text: string): string {
  const uuids = new Map<string, string>()
  const numbered = (uuid: string): string => {
    const known = uuids.get(uuid) ?? `<uuid ${uuids.size + 1}>`
    uuids.set(uuid, known)
    return known
  }
  let count = 0
  return text
    .replaceAll(': heartbeat\n', '')
    .replace(UUID, numbered)
    .replace(TIME, '<time>')
    .replace(EVENT_ID, () => `id: <${++count}>`)
}

const setup = useDeployment()

describe('frames of a run', () => {
  it.each(Object.entries(CASES))('%s', async (name, body) => {
    const { thread_id } = await setup().client.threads.create()
    const answer = await setup().request(`/threads/${thread_id}/runs/stream`, jsonBody('POST', body))
    const frames = normalised(await answer.text())
    const file = new URL(`${name}.txt`, ROOT)
    if (UPDATE) writeFileSync(file, frames)
    expect(frames).toBe(readFileSync(file, 'utf8'))
  })
})
