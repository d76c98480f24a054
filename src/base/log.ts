import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino'

/** Structured logger: `logger.info({ port }, 'listening')`. Never log per item, a payload or a key. */
export type Logger = PinoLogger

/** Levels, from the fewest lines to the most; `silent` writes nothing. */
export type LogLevel = 'silent' | 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace'

const SECRET_KEYS = [
  'x-api-key',
  'X-API-Key',
  'X-Api-Key',
  'x-service-key',
  'authorization',
  'Authorization',
  'cookie',
  'set-cookie',
  'password',
  'api_key',
  'apiKey',
]

/** Paths of secrets at the top of a record and up to three levels below (`req.headers.authorization`). */
function redactedPaths(): string[] {
  return SECRET_KEYS.flatMap((key) => ['', '*', '*.*', '*.*.*'].map((prefix) => `${prefix}["${key}"]`))
}

/**
 * A logger of JSON lines with `time` in ISO 8601 and `level` as a word; values under the names of secrets
 * are replaced by `[redacted]`. Writes to stdout unless a destination is given.
 */
export function createLogger(options: { level?: LogLevel; destination?: DestinationStream } = {}): Logger {
  const settings = {
    level: options.level ?? 'info',
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: redactedPaths(), censor: '[redacted]' },
  }
  return options.destination === undefined ? pino(settings) : pino(settings, options.destination)
}
