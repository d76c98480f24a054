import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { Answer, HostileServer } from './hostile-server.ts'
import { listTraceRuns } from '../traces/stored-traces.ts'

/** Expects that the server stored a record or refused it with a message: never a 5xx. */
export function expectDecided(answer: Answer): void {
  expect([202, 400, 413, 422]).toContain(answer.status)
  for (const { code, reason } of answer.body.rejected ?? []) {
    expect(code).toMatch(/^[a-z_]+$/)
    expect(reason.length).toBeLessThan(2_000)
  }
}

/** Makes the JSON text of one create from an id. */
type RawRecord = (id: string) => string

/**
 * Sends one create as raw JSON text to POST /runs and as a multipart part. If it was accepted, it can be read by id and
 * in the list.
 */
export function sendRaw(server: HostileServer, record: RawRecord, session_name: string): Promise<Answer[]> {
  return sendAllRaw(server, [record], session_name)
}

/** Sends several creates as `sendRaw` does, and reads them after all have been sent. */
export async function sendAllRaw(
  server: HostileServer,
  records: readonly RawRecord[],
  session_name: string,
): Promise<Answer[]> {
  const json = { 'content-type': 'application/json' }
  const sent: [id: string, answer: Answer][] = []
  for (const record of records) {
    const [single, part] = [randomUUID(), randomUUID()]
    sent.push([single, await server.send('/runs', record(single), json)])
    sent.push([part, await server.sendParts([{ name: `post.${part}`, data: record(part) }])])
  }
  const answers = sent.map(([, answer]) => answer)
  answers.forEach(expectDecided)
  const accepted = sent.filter(([, { status }]) => status === 202)
  for (const [id] of accepted) expect((await server.read(id)).id).toBe(id)
  if (accepted.length > 0 && session_name !== '') {
    expect(await listTraceRuns(server.weir(), session_name)).toHaveLength(accepted.length)
  }
  return answers
}

/** Fields that every record has by default. */
export const LLM = {
  name: 'x',
  run_type: 'llm',
  start_time: '2026-11-20T09:00:00Z',
  end_time: '2026-11-20T09:00:01Z',
}

/** Makes the JSON text of a create with these fields from an id. */
export function create(fields: Record<string, unknown>, session_name: string) {
  return (id: string): string => JSON.stringify({ id, ...LLM, session_name, ...fields })
}
