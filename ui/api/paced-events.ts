/** Lines of events that the page reads in one task: about 25 small events, some milliseconds of work. */
const PIECE_LINES = 100
/** Bytes that are read in one task, however few lines they have. */
const PIECE_BYTES = 64 << 10
const LINE_FEED = 0x0a

/** The end of the piece that begins at `from`: after so many lines or bytes, or at the end of the chunk. */
export function pieceEnd(chunk: Uint8Array, from: number): number {
  const most = Math.min(from + PIECE_BYTES, chunk.byteLength)
  let end = from
  for (let lines = 0; lines < PIECE_LINES; lines += 1) {
    const feed = chunk.indexOf(LINE_FEED, end)
    if (feed < 0 || feed >= most) return most
    end = feed + 1
  }
  return end
}

/** Resolves in a later task, so that the browser can draw and answer in between. */
function nextTask(): Promise<void> {
  const { port1, port2 } = new MessageChannel()
  return new Promise((resolve) => {
    const end = (): void => {
      port1.close()
      resolve()
    }
    port1.addEventListener('message', end)
    port1.start()
    port2.postMessage(0)
  })
}

/**
 * A response of events whose bytes arrive piece by piece, each in a task of its own: thousands of events that arrive at
 * once would block the page for a second. Other responses stay as they are.
 */
export function pacedEvents(response: Response): Response {
  const { body, headers, status, statusText } = response
  if (body === null || headers.get('content-type')?.startsWith('text/event-stream') !== true) return response
  const pieces = new TransformStream<Uint8Array, Uint8Array>({
    async transform(chunk, out) {
      for (let at = 0; at < chunk.byteLength; ) {
        const end = pieceEnd(chunk, at)
        out.enqueue(chunk.subarray(at, end))
        at = end
        await nextTask()
      }
    },
  })
  return new Response(body.pipeThrough(pieces), { headers, status, statusText })
}
