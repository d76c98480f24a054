import { expect, it, vi } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { CALL_ENDS_BY, PLAYGROUND_PROJECT } from '../../../src/playground/call-trace.ts'
import { eventually } from '../../support/eventually.ts'
import { startHeldVendor } from '../../support/servers/vendors/held-vendor.ts'
import { startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Each round kills a server, starts it again and waits until it has caught up.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const JSON_TYPE = { 'content-type': 'application/json' }
const CALL_MS = 600_000

interface Read {
  status: string
  error: string | null
  start_time: string
  end_time: string | null
  extra: { metadata: Record<string, string> }
}

const read = (weir: WeirProcess, id: string): Promise<Read> => weir.json<Read>(`/api/v1/runs/${id}`)

/** Begins a call whose provider sends nothing; resolves with the id of its run. */
async function beginCall(weir: WeirProcess, url: string): Promise<string> {
  const secret = { value: 'any', hosts: [new URL(url).host] }
  const path = '/api/v1/workspaces/current/secrets/LOCAL_KEY'
  await weir.fetch(path, { method: 'PUT', headers: JSON_TYPE, body: JSON.stringify(secret) })
  const call = {
    provider: 'openai-compatible',
    model: 'held',
    secret: 'LOCAL_KEY',
    base_url: url,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  }
  const answer = await weir.fetch('/api/v1/playground/runs', {
    method: 'POST',
    headers: JSON_TYPE,
    body: JSON.stringify(call),
  })
  const first = await answer.body?.getReader().read()
  const [, data = '{}'] = /data: (.*)/.exec(new TextDecoder().decode(first?.value)) ?? []
  return (JSON.parse(data) as { run_id: string }).run_id
}

/** The trace of a call that began at `at`, as it is stored if the server is killed during the call. */
function headOf(id: string, at: number): object {
  const ends_by = new Date(at + CALL_MS).toISOString()
  return {
    id,
    trace_id: id,
    name: 'held',
    run_type: 'llm',
    session_name: PLAYGROUND_PROJECT,
    start_time: new Date(at).toISOString(),
    inputs: { messages: [{ role: 'user', content: 'hi' }] },
    extra: { metadata: { ls_provider: 'other', ls_model_name: 'held', [CALL_ENDS_BY]: ends_by } },
  }
}

it('a call of the playground whose server was killed ends in error once it is over (N15)', async () => {
  const { dir, remove } = await temporaryDir()
  const vendor = await startHeldVendor()
  let weir = await startWeir(dir)
  try {
    const id = await beginCall(weir, vendor.url)
    await eventually(async () => expect((await read(weir, id)).status).toBe('pending'))
    const begun = await read(weir, id)
    const ends_by = Date.parse(begun.extra.metadata[CALL_ENDS_BY] ?? '')
    expect(Math.abs(ends_by - Date.parse(begun.start_time) - CALL_MS)).toBeLessThan(2)
    // A call that began an hour ago, and a trace of a user in the same project, which has no end.
    const [old, own] = [newUuid(), newUuid()]
    const hourAgo = Date.now() - 3_600_000
    const { extra: _extra, ...plain } = headOf(own, hourAgo) as { extra: unknown }
    const body = JSON.stringify({ post: [headOf(old, hourAgo), plain], patch: [] })
    await weir.fetch('/api/v1/runs/batch', { method: 'POST', headers: JSON_TYPE, body })
    await weir.drained()
    await weir.kill()
    weir = await startWeir(dir)
    await eventually(async () => {
      expect(await read(weir, old)).toMatchObject({
        status: 'error',
        error: 'The server ended during the call.',
      })
    })
    const ended = await read(weir, old)
    expect(Date.parse(ended.end_time ?? '')).toBe(hourAgo + CALL_MS)
    // The first call may still be running, and the user's trace is not a call of the playground.
    expect([(await read(weir, id)).status, (await read(weir, own)).status]).toEqual(['pending', 'pending'])
    expect(await weir.stop()).toBe(0)
  } finally {
    if (weir.isAlive()) await weir.kill()
    await vendor.stop()
    await remove()
  }
})
