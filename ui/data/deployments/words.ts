/** Characters of a text in a list, at most; the rest would not be in sight. */
const MOST = 300

/** The text of a message's content: a text, or blocks of which some have text. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return (content as { text?: unknown }[])
    .flatMap((block) => (typeof block?.text === 'string' ? block.text : []))
    .join(' ')
}

/** The text of a message in any form that graphs take: a text, an object with content, or a pair of role and text. */
function messageText(message: unknown): string {
  if (typeof message === 'string') return message
  if (Array.isArray(message)) return contentText(message[1])
  return typeof message === 'object' && message !== null && 'content' in message
    ? contentText(message.content)
    : ''
}

/**
 * The beginning of a value in words: the last message of its `messages`, a text, or else its JSON, which `previewText`
 * makes readable. '' for nothing.
 */
export function wordsOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value.slice(0, MOST)
  const messages = (value as { messages?: unknown }).messages
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : messages
  const text = messageText(last) || contentText(value)
  if (text !== '') return text.slice(0, MOST)
  return JSON.stringify(value).slice(0, MOST)
}
