/** One server-sent event as received. */
export interface SseFrame {
  event: string
  data: unknown
  /** The id of the event; '' if it has none. */
  id: string
}

/** Reads frames in order as their bytes arrive; keeps an incomplete frame for the next bytes. Comments are counted. */
export function createFrameReader(): { push(text: string): SseFrame[]; comments(): number } {
  let rest = ''
  let comments = 0
  let fields: Record<string, string> = {}

  function line(text: string): SseFrame | undefined {
    if (text.startsWith(':')) comments++
    else if (text !== '') {
      const colon = text.indexOf(': ')
      if (colon < 0) throw new Error(`not a field: ${text.slice(0, 100)}`)
      fields[text.slice(0, colon)] = text.slice(colon + 2)
    } else {
      const { event, data, id = '', ...others } = fields
      if (event === undefined || data === undefined || Object.keys(others).length > 0) {
        throw new Error(`not an event: ${JSON.stringify(fields)}`)
      }
      fields = {}
      return { event, data: JSON.parse(data) as unknown, id }
    }
    return undefined
  }

  return {
    push(text) {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      return lines.flatMap((one) => line(one) ?? [])
    },
    comments: () => comments,
  }
}

/** All frames of a response that ends. */
export function framesOf(text: string): SseFrame[] {
  return createFrameReader().push(text)
}

/** Frames of a response as they arrive; the loop may be left at any time. */
export async function* readFrames(response: Response): AsyncGenerator<SseFrame> {
  if (response.body === null) return
  const reader = createFrameReader()
  const decoder = new TextDecoder()
  for await (const chunk of response.body) yield* reader.push(decoder.decode(chunk, { stream: true }))
}
