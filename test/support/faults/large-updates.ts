import { randomBytes, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { jsonPart, sendParts } from '../servers/load.ts'
import type { WeirProcess } from '../servers/weir-process.ts'

const MB = 1024 * 1024

/** The largest amount of memory that a process has used so far, in MB. */
export async function peakMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
}

/** A text of this many megabytes, different each time and hard to compress. */
export function largeText(megabytes: number): string {
  return randomBytes((megabytes * MB) / 2).toString('hex')
}

/** The TraceRun that must result from everything that `sendLargeUpdates` sent. */
export interface LargeTraceRun {
  readonly id: string
  readonly inputs: string
  readonly outputs: string
  /** Bytes of all payloads together. */
  readonly sent: number
}

/**
 * Sends one llm TraceRun: its creation, then `updates` updates. Each update has outputs of `megabytes` and one more key
 * of metadata; the second one has the inputs, and the last one ends the TraceRun.
 */
export async function sendLargeUpdates(
  weir: WeirProcess,
  updates: number,
  megabytes: number,
): Promise<LargeTraceRun> {
  const id = randomUUID()
  const started = Date.now()
  const start_time = new Date(started).toISOString()
  const place = {
    id,
    trace_id: id,
    dotted_order: `${start_time.replace(/[-:.]/g, '').slice(0, -1)}000Z${id}`,
  }
  const metadata = { ls_provider: 'openai', ls_model_name: 'gpt-4.1-mini' }
  const head = { ...place, name: 'large', run_type: 'llm', start_time, extra: { metadata } }
  const send = async (...parts: Parameters<typeof sendParts>[1]): Promise<void> => {
    const { status, text } = await sendParts(weir.url, parts)
    if (status !== 202) throw new Error(`${status} ${text}`)
  }
  await send(jsonPart(`post.${id}`, head))
  const inputs = largeText(megabytes)
  let outputs = ''
  let sent = inputs.length
  for (let n = 1; n <= updates; n++) {
    outputs = largeText(megabytes)
    sent += outputs.length
    const end = n === updates ? { end_time: new Date(started + 1000).toISOString() } : {}
    await send(
      jsonPart(`patch.${id}`, { ...place, ...end, extra: { metadata: { [`update_${n}`]: n } } }),
      jsonPart(`patch.${id}.outputs`, {
        messages: [{ role: 'assistant', content: outputs }],
        usage_metadata: { input_tokens: 7, output_tokens: 8, total_tokens: 15 },
      }),
      ...(n === 2 ? [jsonPart(`patch.${id}.inputs`, { messages: [{ role: 'user', content: inputs }] })] : []),
    )
  }
  return { id, inputs, outputs, sent }
}
