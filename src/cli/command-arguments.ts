import { type ParseArgsConfig, parseArgs } from 'node:util'
import { AppError } from '../base/errors.ts'

type Flags = NonNullable<ParseArgsConfig['options']>

/** The flags and words of a command. @throws AppError invalid_request with `help` for flags that it does not have */
export function readArguments<const T extends Flags>(args: string[], options: T, help: string) {
  try {
    return parseArgs({ args, options, allowPositionals: true as const })
  } catch (error) {
    throw misused(error instanceof Error ? error.message : String(error), help)
  }
}

/** A command line that is not understood: what is wrong, and how it goes. */
export function misused(message: string, help: string): AppError {
  return new AppError('invalid_request', { message: `${message}\n\n${help}` })
}
