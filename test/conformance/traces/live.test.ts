import { Client, RunTree } from 'langsmith'
import { expect, it } from 'vitest'
import { useWeir } from '../../support/servers/use-weir.ts'

const server = useWeir()

it('runs that an SDK sends are announced to readers of its project, once they can be read', async () => {
  const weir = server.current()
  const project = await weir.json<{ id: string }>('/sessions', { name: 'live' })
  const gone = new AbortController()
  const stream = await fetch(`${weir.url}/live?topic=project:${project.id}`, {
    headers: { 'x-api-key': weir.key },
    signal: gone.signal,
  })
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const until = async (mark: string): Promise<void> => {
    while (!text.includes(mark)) {
      const { done, value } = await reader.read()
      expect(done).toBe(false)
      text += value ?? ''
    }
  }
  await until('event: open')
  const client = new Client({ apiUrl: weir.url, apiKey: weir.key })
  const run = new RunTree({ name: 'followed', run_type: 'chain', client, project_name: 'live', inputs: {} })
  await run.postRun()
  await run.end({ answer: 1 })
  await run.patchRun()
  await client.awaitPendingTraceBatches()
  await until(`"run_id":"${run.id}"`)
  expect(await weir.json(`/runs/${run.id}`)).toMatchObject({ name: 'followed' })
  await until('"status":"success"')
  gone.abort()
})
