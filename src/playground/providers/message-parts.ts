import { AppError } from '../../base/errors.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { ContentBlock, Message } from '../../schema/types.gen.ts'

/** A message with its place in the request, for errors. */
export interface PlacedMessage {
  message: Message
  index: number
}

export type MediaBlock = Extract<ContentBlock, { type: 'image' | 'file' | 'audio' | 'video' }>

/** The messages that are sent to vendors: all except those of the role `reasoning`, which their APIs do not have. */
export function sentMessages(messages: readonly Message[]): PlacedMessage[] {
  return messages
    .map((message, index) => ({ message, index }))
    .filter(({ message }) => message.role !== 'reasoning')
}

/** The texts of a message's content, joined by line breaks; other blocks are left out. */
export function joinedText({ content }: Pick<Message, 'content'>): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
}

/** The calls that an assistant's message makes, each with an id. */
export function toolCallsOf({
  message,
  index,
}: PlacedMessage): { id: string; name: string; args: JsonObject }[] {
  return message.content.flatMap((block, i) => {
    if (block.type !== 'tool_call') return []
    const { id = `call_${index}_${i}`, name = '', args } = block
    return [{ id, name, args: args as JsonObject }]
  })
}

/** The `type/subtype` of a media block. */
export function mimeOf({ type, mime_type }: MediaBlock): string {
  const usual = { image: 'image/png', file: 'application/pdf', audio: 'audio/wav', video: 'video/mp4' }
  return mime_type ?? usual[type]
}

/** The bytes of a media block as a data URL, or its URL; undefined if it has neither. */
export function mediaUrl(block: MediaBlock): string | undefined {
  return block.base64 === undefined ? block.url : `data:${mimeOf(block)};base64,${block.base64}`
}

/**
 * The error for a block that an API does not support. `place` contains the positions of its message and of the block.
 */
export function unsupportedBlock(
  provider: string,
  block: ContentBlock,
  place: readonly [number, number],
): AppError {
  return new AppError('invalid_request', {
    details: [
      {
        loc: ['body', 'messages', place[0], 'content', place[1]],
        msg: `${provider} takes no content of the type ${block.type} here: remove it, or use another provider`,
        type: 'value_error',
      },
    ],
  })
}
