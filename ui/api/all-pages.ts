import { callRaw, type OperationName } from './call.ts'
import { parseExact } from './exact-json.ts'

/**
 * All items of a list. A response has as many as fit, and `x-pagination-next` names the offset of the next ones.
 * @throws ApiError
 */
export async function readAll<T>(
  name: OperationName,
  { signal, query = {} }: { signal: AbortSignal; query?: Readonly<Record<string, string>> },
): Promise<T[]> {
  const items: T[] = []
  let offset: number | undefined = 0
  while (offset !== undefined) {
    const response: Response = await callRaw(name, { query: { ...query, offset }, signal })
    items.push(...(parseExact(await response.text()) as T[]))
    const next = response.headers.get('x-pagination-next')
    offset = next === null ? undefined : Number(next)
  }
  return items
}
