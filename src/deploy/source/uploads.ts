import { createHash, randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { access, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/errors.ts'
import { toDiskError } from '../../base/files/disk-errors.ts'
import { newUuid } from '../../base/ids.ts'
import type { SharedFiles } from '../stores/shared-files.ts'
import type { UploadedSource, UploadStore } from '../stores/upload-store.ts'

export interface UploadsOptions {
  store: UploadStore
  /** Folder of the sources. */
  dir: string
  /** Maximum bytes of one source. */
  max_bytes: number
  clock: Clock
  /** Sources that other servers can read; undefined if there is a single server. */
  files?: SharedFiles | undefined
}

/** Uploads of sources to an address with a token, without a key (P-11). */
export interface Uploads {
  /** Allows one upload within 15 minutes. */
  allow(deployment_id: string): Promise<{ object_path: string; token: string }>
  /**
   * Writes the source to disk as it arrives.
   * @throws AppError forbidden for a token that is unknown, used or too old; body_too_large;
   * disk_full or disk_unwritable
   */
  receive(token: string, body: AsyncIterable<Uint8Array>): Promise<UploadedSource>
  /**
   * Opens the file of a source that has arrived. @throws AppError invalid_request if the deployment has no such source
   */
  open(deployment_id: string, object_path: string): Promise<UploadedSource & { file: string }>
  /** Stores a source for other servers, if this server has it and it is not stored yet. */
  share(deployment_id: string, object_path: string): Promise<void>
}

const TOKEN_BYTES = 16
const VALID_MS = 15 * 60_000

/** Uploads into a folder of the data directory. */
export function createUploads({ store, dir, max_bytes, clock, files }: UploadsOptions): Uploads {
  return {
    async allow(deployment_id) {
      const token = randomBytes(TOKEN_BYTES).toString('base64url')
      const object_path = `sources/${deployment_id}/${newUuid()}.tar.gz`
      const expires_at = clock.now() + VALID_MS
      await store.add({ object_path, deployment_id, token_hash: hashOf(token), expires_at })
      return { object_path, token }
    },
    async receive(token, body) {
      const upload = await store.take(hashOf(token))
      if (upload === undefined)
        throw new AppError('forbidden', { message: 'This upload address is unknown, used or too old.' })
      const { object_path, deployment_id } = upload
      const file = join(dir, object_path)
      const source = await writeSource(file, body, max_bytes)
      await files?.put(deployment_id, object_path, file, '')
      await store.finish(object_path, source)
      return source
    },
    async open(deployment_id, object_path) {
      // The store has only paths that the server has issued, so no path is outside of the folder.
      const source = await store.find(deployment_id, object_path)
      if (source === undefined)
        throw new AppError('invalid_request', {
          message: 'source_tarball_path: no source was uploaded there.',
        })
      const file = join(dir, object_path)
      if (files !== undefined) await fetchSource(files, { deployment_id, object_path, file })
      return { ...source, file }
    },
    async share(deployment_id, object_path) {
      const file = join(dir, object_path)
      if (files !== undefined && (await exists(file))) await files.put(deployment_id, object_path, file, '')
    },
  }
}

/** Fetches a source that another server has received. */
async function fetchSource(
  files: SharedFiles,
  { deployment_id, object_path, file }: { deployment_id: string; object_path: string; file: string },
): Promise<void> {
  if (await exists(file)) return
  const part = `${file}.${newUuid()}.part`
  try {
    await mkdir(dirname(file), { recursive: true })
    if ((await files.get(deployment_id, object_path, part)) !== undefined) await rename(part, file)
  } catch (error) {
    await rm(part, { force: true })
    throw toDiskError(error) ?? error
  }
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

async function writeSource(
  file: string,
  body: AsyncIterable<Uint8Array>,
  max_bytes: number,
): Promise<UploadedSource> {
  const part = `${file}.part`
  const hash = createHash('sha256')
  let bytes = 0
  async function* measured(): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > max_bytes)
        throw new AppError('body_too_large', { message: `A source may have at most ${max_bytes} bytes.` })
      hash.update(chunk)
      yield chunk
    }
  }
  try {
    await mkdir(dirname(file), { recursive: true })
    await pipeline(measured, createWriteStream(part, { mode: 0o600, flush: true }))
    await rename(part, file)
  } catch (error) {
    await rm(part, { force: true })
    throw toDiskError(error) ?? error
  }
  return { sha256: hash.digest('hex'), bytes }
}
