import S3rver from 's3rver'
import { temporaryDir } from './clickhouse/embedded-clickhouse.ts'

/** A private S3 server on a loopback port, with one bucket. */
export interface TestS3 {
  /** BLOB_URL for a prefix in the bucket. */
  url(prefix: string): string
  stop(): Promise<void>
}

export async function startS3(): Promise<TestS3> {
  const { dir: directory, remove } = await temporaryDir()
  const configureBuckets = [{ name: 'weir' }]
  const server = new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory, configureBuckets })
  const { port } = await server.run()
  return {
    url: (prefix) => `s3://S3RVER:S3RVER@weir/${prefix}?endpoint=http://127.0.0.1:${port}`,
    async stop() {
      await server.close()
      await remove()
    },
  }
}
