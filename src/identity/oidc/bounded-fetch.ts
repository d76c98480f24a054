/** Maximum bytes of a provider's answer. */
const MAX_BYTES = 1024 * 1024

/** `fetch` for answers of providers, which are read up to a limit. @throws Error when an answer is larger */
export async function boundedFetch(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init)
  if (response.body === null) return response
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of response.body) {
    bytes += part.length
    if (bytes > MAX_BYTES) throw new Error(`The provider's answer is larger than ${MAX_BYTES} bytes.`)
    parts.push(part)
  }
  const { status, statusText, headers } = response
  return new Response(Buffer.concat(parts), { status, statusText, headers })
}
