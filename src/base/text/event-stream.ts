export interface StreamEvent {
  /** Id of the event; undefined if the server sent none. */
  id: string | undefined
  event: string
  data: string
}

const LINE_END = /\r\n|\n|\r(?!$)/

/** Maximum length of one event in UTF-16 units. */
const MAX_EVENT = 32 << 20

/**
 * Parses the events of a body by the HTML standard, without comments and without a truncated event. Rejects if the
 * connection breaks. Throws RangeError if an event is longer than `max_event`.
 */
export async function* readEvents(
  body: AsyncIterable<Uint8Array>,
  max_event = MAX_EVENT,
): AsyncIterable<StreamEvent> {
  const decoder = new TextDecoder()
  let held = ''
  let fields: Partial<Record<string, string>> = {}
  for await (const bytes of body) {
    const lines = (held + decoder.decode(bytes, { stream: true })).split(LINE_END)
    held = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') {
        const { id, event = 'message', data } = fields
        fields = {}
        if (data !== undefined) yield { id, event, data }
        continue
      }
      const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
      if (name === '') continue
      fields[name] = name === 'data' && fields['data'] !== undefined ? `${fields['data']}\n${value}` : value
    }
    if (held.length + (fields['data']?.length ?? 0) > max_event)
      throw new RangeError(`An event is longer than ${max_event} characters.`)
  }
}
