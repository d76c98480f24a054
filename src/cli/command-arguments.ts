import { type ParseArgsConfig, parseArgs } from 'node:util'
import { AppError } from '../base/errors.ts'
import { parseUuid } from '../base/ids.ts'

/** What --role may be. */
export const ROLES = ['admin', 'operator', 'user', 'viewer']

type Flags = NonNullable<ParseArgsConfig['options']>

/** The flags and words of a command. @throws AppError invalid_request with `help` for flags that it does not have */
export function readArguments<const T extends Flags>(args: string[], options: T, help: string) {
  try {
    return parseArgs({ args, options, allowPositionals: true as const })
  } catch (error) {
    throw misused(error instanceof Error ? error.message : String(error), help)
  }
}

/** @throws AppError invalid_request when a flag's word is none of those that it may be */
export function assertWord(flag: string, word: string, words: readonly string[]): void {
  if (words.includes(word)) return
  throw new AppError('invalid_request', {
    message: `${flag} must be one of ${words.join(', ')}. It is "${word}".`,
  })
}

/** The id as the API has it. `what` has the id; `command` lists ids. @throws AppError invalid_request when it is none */
export function idOf(text: string, what: string, command: string): string {
  const id = parseUuid(text)
  if (id !== undefined) return id
  throw new AppError('invalid_request', {
    message: `"${text}" is no id of a ${what}; ${command} tells them.`,
  })
}

/** The words that were typed, to follow those that are expected; '' without any. */
export function saidText(words: readonly string[]): string {
  return words.length === 0 ? '' : `, not "${words.join(' ')}"`
}

/** A command line that is not understood: what is wrong, and how it goes. */
export function misused(message: string, help: string): AppError {
  return new AppError('invalid_request', { message: `${message}\n\n${help}` })
}
