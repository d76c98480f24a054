export interface ServerEvent {
  event: string
  data: string
}

/** Limit of one event; events of the server are far smaller. */
const MAX_FRAME_CHARS = 4 << 20

function eventOf(frame: string): ServerEvent | undefined {
  let event = 'message'
  const data: string[] = []
  for (const line of frame.split('\n')) {
    const [, field = '', value = ''] = /^(\w+): ?(.*)$/s.exec(line) ?? []
    if (field === 'event') event = value
    if (field === 'data') data.push(value)
  }
  return data.length === 0 ? undefined : { event, data: data.join('\n') }
}

/**
 * The events of a response as they arrive. `onPiece` is called for every piece that arrives, comments (heartbeats) included.
 * @throws the errors of reading the body; an Error for more than MAX_FRAME_CHARS characters without the end of an event
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  onPiece: () => void = () => undefined,
): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      onPiece()
      text = (text + value).replaceAll('\r\n', '\n')
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const event = eventOf(text.slice(0, end))
        text = text.slice(end + 2)
        if (event !== undefined) yield event
      }
      if (text.length > MAX_FRAME_CHARS) throw new Error('The stream of events is not one of this server.')
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
