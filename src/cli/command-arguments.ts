import { type ParseArgsConfig, parseArgs } from 'node:util'
import { AppError } from '../base/errors.ts'
import { editDistance } from '../base/edit-distance.ts'
import { parseUuid } from '../base/ids.ts'

/** What --role may be. */
export const ROLES = ['admin', 'operator', 'user', 'viewer']

type Flags = NonNullable<ParseArgsConfig['options']>

/** The flags and words of a command. @throws AppError invalid_request with `help` for flags that it does not have */
export function readArguments<const T extends Flags>(args: string[], options: T, help: string) {
  try {
    return parseArgs({ args, options, allowPositionals: true as const })
  } catch (error) {
    throw misused(optionFault(error, Object.keys(options)), help)
  }
}

const MAX_MISTAKES = 2

/** What is wrong with an option, with the one that was most likely meant. */
function optionFault(error: unknown, names: readonly string[]): string {
  if (!(error instanceof Error)) return String(error)
  const unknown = /^Unknown option '--([^']+)'/.exec(error.message)?.[1]
  if (unknown === undefined) return error.message
  const [nearest] = names
    .map((name) => ({ name, distance: editDistance(unknown, name) }))
    .sort((a, b) => a.distance - b.distance)
  const isLikely = nearest !== undefined && nearest.distance <= MAX_MISTAKES
  return `There is no option --${unknown}.${isLikely ? ` Did you mean --${nearest.name}?` : ''}`
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

/** Words that do not fit: `actions` has what each action of the command takes, in words. */
export function misusedWords(
  words: readonly string[],
  actions: Readonly<Record<string, string>>,
  help: string,
): AppError {
  const [action, ...rest] = words
  const names = Object.keys(actions).join(', ')
  if (action === undefined) return misused(`Name one of ${names}.`, help)
  if (!Object.hasOwn(actions, action)) return misused(`"${action}" is none of ${names}.`, help)
  const given = rest.length === 0 ? '' : `, not "${rest.join(' ')}"`
  return misused(`${action} takes ${actions[action]}${given}.`, help)
}

/** A command line that is not understood: what is wrong, and the lines of the help that show the command's forms. */
export function misused(message: string, help: string): AppError {
  const [forms = ''] = help.split('\n\n')
  return new AppError('invalid_request', { message: `${message}\n\n${forms}\n\n--help explains them.` })
}
