import { AppError } from '../../base/errors.ts'
import { assertWord } from './command-arguments.ts'

/** Flags of every command that prints for people or for programs; --json is short for `--format json`. */
export const FORMAT_FLAGS = { format: { type: 'string' }, json: { type: 'boolean' } } as const

/** Help for FORMAT_FLAGS of a command that prints a table. */
export const FORMAT_HELP = '  --format WORD    table for people, or json as the API gives it (default: table)'

/**
 * The format to print: the given word, otherwise the first of `words`, which include json. @throws AppError
 * invalid_request for another word, and for two flags that contradict each other
 */
export function formatOf<const W extends readonly [string, ...string[]]>(
  { format, json }: { format?: string | undefined; json?: boolean | undefined },
  words: W,
): W[number] {
  if (format !== undefined) assertWord('--format', format, words)
  if (json !== true) return format ?? words[0]
  if (format === undefined || format === 'json') return 'json'
  throw new AppError('invalid_request', {
    message: `--json is short for --format json, which contradicts --format ${format}. Leave one of them out.`,
  })
}

/** Whether a command that prints a table prints JSON instead. @throws AppError invalid_request as `formatOf` */
export function wantsJson(flags: { format?: string | undefined; json?: boolean | undefined }): boolean {
  return formatOf(flags, ['table', 'json']) === 'json'
}
