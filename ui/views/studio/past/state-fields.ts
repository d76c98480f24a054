import { type ArgumentField, argumentFields } from '../answers.ts'

/** Characters of a value that is edited in place, at most. */
const MOST_TEXT = 20_000

/** The values of a state as fields of a form, and the names of those that are too large for one. */
export function stateFields(values: unknown): { fields: ArgumentField[]; large: string[] } {
  const all = argumentFields(values) ?? []
  return {
    fields: all.filter(({ text }) => text.length <= MOST_TEXT),
    large: all.filter(({ text }) => text.length > MOST_TEXT).map(({ name }) => name),
  }
}

/** The values to write: the changed fields and those of a typed object, which win; or any other typed value by itself. */
export function withTyped(changed: Record<string, unknown>, typed: unknown): unknown {
  const isFields = typeof typed === 'object' && typed !== null && !Array.isArray(typed)
  return isFields ? { ...changed, ...typed } : typed
}

const withPlainBreaks = (text: string): string => text.replaceAll('\r\n', '\n')

/** The fields whose text was changed, with their new values. @throws what `parse` throws for a value that is not JSON */
export function changedValues(
  fields: readonly ArgumentField[],
  typed: (name: string) => string,
  parse: (text: string, what: string) => unknown,
): Record<string, unknown> {
  const changed: Record<string, unknown> = {}
  for (const { name, isText, text } of fields) {
    const next = typed(name)
    if (withPlainBreaks(next) !== withPlainBreaks(text)) changed[name] = isText ? next : parse(next, name)
  }
  return changed
}
