/**
 * An error in the text format of ClickHouse's HTTP interface: `Code: 62. DB::Exception: … (SYNTAX_ERROR)`. The client
 * reads code and type from that text.
 */
export class EngineException extends Error {
  readonly clickhouseCode: number

  constructor(clickhouseCode: number, type: string, message: string) {
    super(`Code: ${clickhouseCode}. DB::Exception: ${message} (${type})`)
    this.name = 'EngineException'
    this.clickhouseCode = clickhouseCode
  }
}

/** Whether an error of the file system means that its disk is full. */
export function isFullDisk(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOSPC'
}

const CODE = /Code: (\d+)\./

/** Converts any thrown value to an EngineException; messages of the engine are kept unchanged. */
export function toEngineException(thrown: unknown): EngineException {
  if (thrown instanceof EngineException) return thrown
  const text = thrown instanceof Error ? thrown.message : String(thrown)
  if (isFullDisk(thrown)) return new EngineException(243, 'NOT_ENOUGH_SPACE', text)
  const code = CODE.exec(text)?.[1]
  if (code === undefined) return new EngineException(1001, 'STD_EXCEPTION', text)
  const exception = new EngineException(Number(code), 'UNKNOWN', '')
  exception.message = text
  return exception
}

const NOT_FOUND = new Set([60, 81])
const FORBIDDEN = new Set([192, 193, 194, 497, 516])
const BAD_REQUEST = new Set([6, 26, 27, 36, 41, 42, 43, 44, 46, 47, 53, 62, 72, 115, 117, 130, 386, 456, 457])

/** The HTTP status of ClickHouse's answer for an exception code. */
export function exceptionStatus(clickhouseCode: number): number {
  if (NOT_FOUND.has(clickhouseCode)) return 404
  if (FORBIDDEN.has(clickhouseCode)) return 403
  if (BAD_REQUEST.has(clickhouseCode)) return 400
  return clickhouseCode === TOO_MANY_QUERIES ? 503 : 500
}

/** TOO_MANY_SIMULTANEOUS_QUERIES: the error when a lane's queue is full. */
export const TOO_MANY_QUERIES = 202
