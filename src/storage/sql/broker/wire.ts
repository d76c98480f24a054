import type { CheckpointRows } from '../checkpoints/queue.ts'
import type { BlobRow, CheckpointRow, FoundBlob, FoundWrite, WriteRow } from '../checkpoints/rows.ts'

/** A message of the storage broker: a JSON body, and values that are sent unparsed. */
export interface Message {
  body: Record<string, unknown>
  parts: readonly (string | Uint8Array)[]
}

export interface Received {
  body: Readonly<Record<string, unknown>>
  parts: readonly Uint8Array[]
}

/** The part of a checkpoint that a host sends or receives. Its three texts are separate parts of the frame. */
export type CheckpointHead = Omit<CheckpointRow, 'checkpoint' | 'refs' | 'metadata'>
/** A row with the type tag of a value and its position, but without its text, which is a separate part of the frame. */
export type Untexted<Row extends { value: string }> = Omit<Row, 'value'>

/** Encodes rows to store, without their `thread_id`, which is sent once for all: so no row can name another thread. */
export function encodeRows({ checkpoints = [], blobs = [], writes = [] }: Partial<CheckpointRows>): Message {
  const body = {
    checkpoints: checkpoints.map(({ checkpoint_ns, checkpoint_id, parent_id }) => ({
      checkpoint_ns,
      checkpoint_id,
      parent_id,
    })),
    blobs: blobs.map(({ value: _value, thread_id: _thread, ...blob }) => blob),
    writes: writes.map(({ value: _value, thread_id: _thread, ...write }) => write),
  }
  return { body, parts: [...checkpoints.flatMap(textsOf), ...blobs.map(valueOf), ...writes.map(valueOf)] }
}

export function encodeCheckpoints(rows: readonly CheckpointRow[]): Message {
  const heads = rows.map(({ thread_id, checkpoint_ns, checkpoint_id, parent_id }): CheckpointHead => {
    return { thread_id, checkpoint_ns, checkpoint_id, parent_id }
  })
  return { body: { rows: heads }, parts: rows.flatMap(textsOf) }
}

/** Values and writes as an answer. */
export function encodeContents(
  values: readonly FoundBlob[],
  writes: ReadonlyMap<string, readonly FoundWrite[]>,
): Message {
  const all = [...writes.values()].flat()
  const body = {
    values: values.map(({ value: _value, ...blob }) => blob),
    writes: all.map(({ value: _value, ...write }) => write),
  }
  return { body, parts: [...values.map(valueOf), ...all.map(valueOf)] }
}

/** Reads an answer of `encodeCheckpoints`; `rest` are the parts after those of the rows. */
export function decodeCheckpoints({ body, parts }: Received): { rows: CheckpointRow[]; rest: Uint8Array[] } {
  const heads = body['rows'] as CheckpointHead[]
  const next = textReader(parts)
  const rows = heads.map((head) => ({ ...head, checkpoint: next(), refs: next(), metadata: next() }))
  return { rows, rest: parts.slice(3 * heads.length) }
}

/** Reads an answer of `encodeContents`. */
export function decodeContents({ body, parts }: Received): {
  values: FoundBlob[]
  writes: Map<string, FoundWrite[]>
} {
  const next = textReader(parts)
  const values = (body['values'] as Untexted<FoundBlob>[]).map((blob) => ({ ...blob, value: next() }))
  const writes = (body['writes'] as Untexted<FoundWrite>[]).map((write) => ({ ...write, value: next() }))
  return { values, writes: Map.groupBy(writes, ({ checkpoint_id }) => checkpoint_id) }
}

/** Returns a function that returns the next part as text at each call; after the last part, an empty text. */
export function textReader(parts: readonly Uint8Array[]): () => string {
  let at = 0
  return () => {
    const part = parts[at++]
    return part === undefined ? '' : Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString()
  }
}

function textsOf({ checkpoint, refs, metadata }: CheckpointRow): string[] {
  return [checkpoint, refs, metadata]
}

function valueOf({ value }: Pick<BlobRow | WriteRow, 'value'>): string {
  return value
}
