/** Bytes of events that are read in one task of the page: some milliseconds of work. */
const PIECE_BYTES = 8 << 10

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
      for (let at = 0; at < chunk.byteLength; at += PIECE_BYTES) {
        out.enqueue(chunk.subarray(at, at + PIECE_BYTES))
        await nextTask()
      }
    },
  })
  return new Response(body.pipeThrough(pieces), { headers, status, statusText })
}
