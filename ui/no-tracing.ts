/**
 * In place of `langsmith`, which the SDK's hook imports and browsers do not need: it traces model calls, and the
 * interface makes none. scripts/ui/config.ts makes the bundler use this file.
 */

const MESSAGE = 'Nothing is traced in a browser.'

/** Never called: nothing is traced in a browser. */
export function Client(): never {
  throw new Error(MESSAGE)
}

/** Never called: nothing is traced in a browser. */
export function RunTree(): never {
  throw new Error(MESSAGE)
}

export const convertToDottedOrderFormat = (): string => ''
export const getCurrentRunTree = (): undefined => undefined
export const getDefaultProjectName = (): string => ''
export const isRunTree = (): boolean => false
export const isTraceableFunction = (): boolean => false
