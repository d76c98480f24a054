import { readFile } from 'node:fs/promises'
import type { VendorCall } from './vendor/call.ts'

/** The recorded requests of a client, with the fake vendor's bills. It replaces clients that take long to build. */
export interface Recording {
  /** The packages of the client. */
  versions: string
  calls: VendorCall[]
  /** The bodies of its OTLP requests for traces, base64, with their content types. */
  requests: { type: string; body: string }[]
}

/** The recording of the client in folder `name`. */
export async function readRecording(name: string): Promise<Recording> {
  return JSON.parse(await readFile(new URL(`${name}/recorded.json`, import.meta.url), 'utf8')) as Recording
}
