import type { CallResult } from '../answer.ts'
import type { Draft, DraftMessage } from '../draft.ts'

/** A draft with the last results of its columns, by their ids. */
export interface KeptDraft {
  draft: Draft
  results: Readonly<Record<string, CallResult>>
}

/** The entry of a stored draft: its size, and when it was written, in epoch milliseconds. */
export interface KeptEntry {
  key: string
  at: number
  bytes: number
}

const KEPT_MS = 7 * 24 * 3_600_000
const MOST_DRAFTS = 40
const MOST_BYTES = 64 << 20

/** Keys of the drafts to delete: the oldest ones beyond a bound. The newest draft is always kept. */
export function tooMany(entries: readonly KeptEntry[], now: number): string[] {
  const newestFirst = entries.toSorted((a, b) => b.at - a.at)
  let sum = 0
  return newestFirst
    .filter(({ at, bytes }, place) => {
      sum += bytes
      return now - at > KEPT_MS || place >= MOST_DRAFTS || (place > 0 && sum > MOST_BYTES)
    })
    .map(({ key }) => key)
}

const CHAR_BYTES = 2

/** The approximate size of a draft in bytes: its texts and files, which are nearly all of it. */
export function bytesOf({ draft: { messages, tools, columns, output_schema }, results }: KeptDraft): number {
  const ofMessages = (list: readonly DraftMessage[] = []): number[] =>
    list.flatMap(({ blocks }) =>
      blocks.flatMap((block) => {
        if (block.kind === 'call') return block.args.length
        if (block.kind !== 'media') return block.text.length
        const { base64, url } = block.block as { base64?: string; url?: string }
        return (base64 ?? url ?? '').length
      }),
    )
  const lengths = [
    ...ofMessages(messages),
    ...columns.flatMap((column) => [...ofMessages(column.messages), column.extra.length]),
    ...tools.map(({ schema, description }) => schema.length + description.length),
    ...Object.values(results).flatMap(({ text, reasoning, calls }) => [
      text.length + reasoning.length,
      ...calls.map(({ args }) => args.length),
    ]),
    output_schema.length,
  ]
  return CHAR_BYTES * lengths.reduce((sum, length) => sum + length, 0)
}
