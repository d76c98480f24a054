import { readdirSync, readFileSync } from 'node:fs'
import type { UsedWeir } from '../servers/use-weir.ts'

const CORPUS = new URL('../../corpus/', import.meta.url)
/** Headers that belong to the recorded connection or caller, not to the request. */
const DROPPED =
  /^(host|connection|content-length|transfer-encoding|keep-alive|expect|x-api-key|x-tenant-id|authorization|accept-encoding|sec-fetch-mode)$/

/** A request as a real client sent it. */
export interface RecordedRequest {
  method: string
  path: string
  headers: Record<string, string>
  body: Uint8Array<ArrayBuffer>
}

interface HeadersFile {
  method: string
  url: string
  answered_status: number
  headers: Record<string, string>
}

/** The requests in a folder of the corpus that write, in their order, without those whose recorded answer is 404. */
export function recordedRequests(folder: string): RecordedRequest[] {
  const names = readdirSync(new URL(`${folder}/`, CORPUS)).filter((name) => name.endsWith('.headers.json'))
  const number = (name: string): number => Number.parseInt(name.slice('request-'.length), 10)
  return names
    .sort((a, b) => number(a) - number(b))
    .flatMap((name) => {
      const head = JSON.parse(readFileSync(new URL(`${folder}/${name}`, CORPUS), 'utf8')) as HeadersFile
      const [path = ''] = head.url.split('?')
      if (head.method === 'GET' || head.answered_status === 404) return []
      const headers = Object.entries(head.headers).filter(([header]) => !DROPPED.test(header))
      const body = readFileSync(new URL(`${folder}/${name.replace('.headers.json', '.body')}`, CORPUS))
      return [{ method: head.method, path, headers: Object.fromEntries(headers), body: new Uint8Array(body) }]
    })
}

/** Sends the whole corpus, including requests that the server must refuse. */
export async function sendCorpus(weir: UsedWeir): Promise<void> {
  for (const folder of readdirSync(CORPUS))
    for (const { method, path, headers, body } of recordedRequests(folder))
      await (await weir.request(path, { method, headers, body })).arrayBuffer()
}
