declare module 's3rver' {
  /** The part of s3rver that is used; the package has no types. */
  export default class S3rver {
    constructor(options: Record<string, unknown>)
    run(): Promise<{ port: number }>
    close(): Promise<void>
  }
}
