import { type ParseArgsConfig, parseArgs } from 'node:util'
import { AppError } from '../../base/errors.ts'
import { editDistance } from '../../base/text/edit-distance.ts'
import { parseUuid } from '../../base/ids.ts'

type Flags = NonNullable<ParseArgsConfig['options']>

/** Ends a command whose arguments ask for its help. */
export class HelpAsked extends Error {}

/**
 * The flags and words of a command. @throws HelpAsked with `help` for --help or -h; AppError invalid_request with
 * `help` for flags that it does not have
 */
export function readArguments<const T extends Flags>(args: string[], options: T, help: string) {
  const known = { ...options, help: { type: 'boolean', short: 'h' } } as const
  let read: ReturnType<typeof parseArgs<{ options: T; allowPositionals: true }>>
  try {
    read = parseArgs({ args, options: known, allowPositionals: true })
  } catch (error) {
    throw misused(optionFault(error, Object.keys(known)), help)
  }
  if ('help' in read.values) throw new HelpAsked(help)
  return read
}

/** Minimum length of a word in which two mistakes are allowed. */
const LETTERS_FOR_TWO_MISTAKES = 6

/** The message for an invalid option, with the most similar valid one. */
function optionFault(error: unknown, names: readonly string[]): string {
  if (!(error instanceof Error)) return String(error)
  const unknown = /^Unknown option '--([^']+)'/.exec(error.message)?.[1]
  if (unknown === undefined) return valueFault(error.message)
  const meant = nearestName(unknown, names)
  if (meant !== undefined) return `There is no option --${unknown}. Did you mean --${meant}?`
  return `There is no option --${unknown}; there are ${names.map((name) => `--${name}`).join(', ')}.`
}

/** Rewords Node's message about an option with too few or too many values. */
function valueFault(message: string): string {
  const [, option] = /^Option '(?:-\w, )?(--[\w-]+)/.exec(message) ?? []
  if (option === undefined) return message
  return / does not take an argument/.test(message)
    ? `${option} takes no value.`
    : `${option} needs a value after it.`
}

/** The most similar of `names`; undefined if none is similar enough. */
export function nearestName(text: string, names: readonly string[]): string | undefined {
  const [nearest] = names
    .map((name) => ({ name, distance: editDistance(text, name) }))
    .sort((a, b) => a.distance - b.distance)
  if (nearest === undefined) return undefined
  const allowed = text.length < LETTERS_FOR_TWO_MISTAKES ? 1 : 2
  return nearest.distance <= allowed ? nearest.name : names.find((name) => name.startsWith(text))
}

/** @throws AppError invalid_request when the value of a flag is not one of `words` */
export function assertWord(flag: string, word: string, words: readonly string[]): void {
  if (words.includes(word)) return
  throw new AppError('invalid_request', {
    message: `${flag} must be one of ${words.join(', ')}. It is "${word}".`,
  })
}

/** A UUID in canonical form. `what` has the id, `command` lists ids. @throws AppError invalid_request for invalid text */
export function uuidArgument(text: string, what: string, command: string): string {
  const id = parseUuid(text)
  if (id !== undefined) return id
  throw new AppError('invalid_request', {
    message: `"${text}" is not the id of a ${what}; ${command} shows them.`,
  })
}

/** The given positional arguments, for the end of a message; '' if there are none. */
export function saidText(words: readonly string[]): string {
  return words.length === 0 ? '' : `, not "${words.join(' ')}"`
}

/** The error for wrong positional arguments. `actions` describes the arguments of each action. */
export function misusedWords(
  words: readonly string[],
  actions: Readonly<Record<string, string>>,
  help: string,
): AppError {
  const [action, ...rest] = words
  const names = Object.keys(actions).join(', ')
  if (action === undefined) return misused(`Name one of ${names}.`, help)
  if (!Object.hasOwn(actions, action)) return misused(`"${action}" is not one of ${names}.`, help)
  const given = rest.length === 0 ? '' : `, not "${rest.join(' ')}"`
  return misused(`${action} takes ${actions[action]}${given}.`, help)
}

/** The error for an invalid command line: the message, then the usage lines of the help. */
export function misused(message: string, help: string): AppError {
  const [forms = ''] = help.split('\n\n')
  return new AppError('invalid_request', { message: `${message}\n\n${forms}\n\n--help explains them.` })
}
