import { Readable } from 'node:stream'
import { chunksOf } from '../../base/chunks.ts'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { AppError } from '../../base/errors.ts'
import type { ListedBlobStore } from '../../ingest/store/blob-store.ts'
import type { Blob } from '../../trace/decode/decoded.ts'
import type { MarkedStore } from '../installation.ts'

/** A bucket of S3, as BLOB_URL names it. */
export interface S3Place {
  bucket: string
  /** The beginning of every key: empty, or ends with a slash. */
  prefix: string
  /** If undefined: the region in AWS_REGION or in the AWS configuration, or `us-east-1` if there is an endpoint. */
  region: string | undefined
  /** Undefined for AWS. At other endpoints (MinIO, Ceph, R2) the bucket is part of the path. */
  endpoint: string | undefined
  /** Undefined if the AWS SDK must find them (variables AWS_…, files, the role of the machine or the pod). */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined
}

/** Attachments in S3; `marked` stores the installation's id beside them. */
export interface S3Blobs extends ListedBlobStore {
  marked: MarkedStore
  close(): void
}

const SHA256 = /^[0-9a-f]{64}$/
/** Matches the key of a blob without the prefix. */
const STORED = /^[0-9a-f]{2}\/[0-9a-f]{64}$/
const CONNECT_TIMEOUT_MS = 5_000
/** Maximum time in which a connection transfers nothing. */
const SILENCE_MS = 30_000
const ATTEMPTS = 3
/** Maximum number of objects that one request puts at the same time. */
const AT_ONCE = 8
const NOT_FOUND = 404
/** The region without a setting. AWS has a region with this name, and other stores accept any name. */
const ANY_REGION = 'us-east-1'

/** Reads `s3://key:secret@bucket/prefix?region=…&endpoint=…`. @throws AppError config_invalid */
export function s3PlaceOf(text: string): S3Place {
  const url = new URL(text)
  const unknown = [...url.searchParams.keys()].find((name) => name !== 'region' && name !== 'endpoint')
  const fault =
    (url.hostname === '' && 'it names no bucket') ||
    (unknown !== undefined && `it has an unknown option ${unknown}`) ||
    ((url.username === '') !== (url.password === '') && 'it has a key without a secret, or the reverse')
  if (fault !== false)
    throw new AppError('config_invalid', {
      message: `BLOB_URL: ${fault}. Write s3://bucket/prefix?region=eu-central-1, or s3://bucket/prefix?endpoint=http://minio:9000.`,
    })
  const prefix = decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, '')
  return {
    bucket: url.hostname,
    prefix: prefix === '' ? '' : `${prefix}/`,
    region: url.searchParams.get('region') ?? undefined,
    endpoint: url.searchParams.get('endpoint') ?? undefined,
    credentials:
      url.username === ''
        ? undefined
        : {
            accessKeyId: decodeURIComponent(url.username),
            secretAccessKey: decodeURIComponent(url.password),
          },
  }
}

function openClient({ region, endpoint, credentials }: S3Place): S3Client {
  const chosen = region ?? (endpoint === undefined ? undefined : ANY_REGION)
  return new S3Client({
    ...(chosen !== undefined && { region: chosen }),
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(credentials && { credentials }),
    maxAttempts: ATTEMPTS,
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: SILENCE_MS },
    // Each put sends its own SHA-256. The SDK's other checksums are not supported by all stores.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
}

/** Returns the response to a request; undefined for an object that does not exist. @throws AppError store_unavailable */
async function answered<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    const isMissing =
      error instanceof S3ServiceException &&
      error.$metadata.httpStatusCode === NOT_FOUND &&
      error.name !== 'NoSuchBucket'
    if (isMissing) return undefined
    const reason = error instanceof Error ? error.message || error.name : String(error)
    throw new AppError('store_unavailable', {
      message: `The bucket of BLOB_URL cannot be used: ${reason}`,
      cause: error,
    })
  }
}

/**
 * Opens the bucket; the connection is opened by the first request. Several servers may use the bucket. Each put writes
 * its object, even if it exists, to renew its time: other servers do not remove an object that was put recently.
 * @throws AppError config_invalid
 */
export async function openS3Blobs(place: S3Place): Promise<S3Blobs> {
  const { bucket: Bucket, prefix } = place
  const client = openClient(place)
  await client.config.region().catch((cause: unknown) => {
    const message = 'BLOB_URL: no region is known. Add ?region=…, or set AWS_REGION.'
    throw new AppError('config_invalid', { message, cause })
  })
  const keyOf = (sha256: string): string => `${prefix}${sha256.slice(0, 2)}/${sha256}`

  const putOne = async ({ sha256, bytes }: Blob): Promise<void> => {
    if (!SHA256.test(sha256))
      throw new AppError('internal', { message: 'A blob is named by its SHA-256 in hex.' })
    const ChecksumSHA256 = Buffer.from(sha256, 'hex').toString('base64')
    const object = { Bucket, Key: keyOf(sha256), Body: bytes, ChecksumSHA256 }
    if ((await answered(() => client.send(new PutObjectCommand(object)))) === undefined)
      throw new AppError('store_unavailable', { message: 'The bucket of BLOB_URL is not found.' })
  }

  return {
    async put(blobs) {
      for (const some of chunksOf(blobs, AT_ONCE)) await Promise.all(some.map(putOne))
    },
    async read(sha256) {
      if (!SHA256.test(sha256)) return undefined
      const get = new GetObjectCommand({ Bucket, Key: keyOf(sha256) })
      const found = await answered(() => client.send(get))
      if (!(found?.Body instanceof Readable)) return undefined
      return { size: found.ContentLength ?? 0, bytes: found.Body }
    },
    async *list() {
      let token: string | undefined
      do {
        const page = new ListObjectsV2Command({ Bucket, Prefix: prefix, ContinuationToken: token })
        const found = await answered(() => client.send(page))
        if (found === undefined)
          throw new AppError('store_unavailable', { message: 'The bucket of BLOB_URL is not found.' })
        for (const { Key = '' } of found.Contents ?? []) {
          const name = Key.slice(prefix.length)
          if (STORED.test(name)) yield name.slice(3)
        }
        token = found.NextContinuationToken
      } while (token !== undefined)
    },
    async remove(sha256, until) {
      if (!SHA256.test(sha256)) return true
      const object = { Bucket, Key: keyOf(sha256) }
      const found = await answered(() => client.send(new HeadObjectCommand(object)))
      if (found === undefined) return true
      if ((found.LastModified?.getTime() ?? Number.POSITIVE_INFINITY) > until) return false
      await answered(() => client.send(new DeleteObjectCommand(object)))
      return true
    },
    marked: markedBucket(client, { Bucket, Key: `${prefix}installation` }),
    close: () => client.destroy(),
  }
}

/** The bucket as a store that contains the id of the installation. */
function markedBucket(client: S3Client, object: { Bucket: string; Key: string }): MarkedStore {
  return {
    name: 'blobs s3',
    place: 'The bucket of BLOB_URL',
    async read() {
      const found = await answered(() => client.send(new GetObjectCommand(object)))
      return (await found?.Body?.transformToString())?.trim() || undefined
    },
    async write(id) {
      if ((await answered(() => client.send(new PutObjectCommand({ ...object, Body: id })))) === undefined)
        throw new AppError('store_unavailable', { message: 'The bucket of BLOB_URL is not found.' })
    },
  }
}
