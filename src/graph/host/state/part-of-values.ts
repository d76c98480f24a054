import { isObject } from '../../../schema/json.ts'
import { graphJsonText } from '../json-text.ts'

/** The names of a path below `values`, such as `['messages', 'id']` of `values.messages.id`. */
type Path = readonly string[]

/** The paths below `values` in a list of selected fields. */
function pathsOf(select: readonly string[]): Path[] {
  return select.flatMap((field) => {
    const [root, ...path] = field.split('.')
    return root === 'values' && path.length > 0 ? [path] : []
  })
}

/**
 * Returns only the selected fields of an object, or of each object in a list. A field is selected if a path begins with
 * it. Other values are returned unchanged.
 */
function partOf(value: unknown, paths: readonly Path[]): unknown {
  if (paths.some((path) => path.length === 0)) return value
  if (Array.isArray(value)) return value.map((item) => partOf(item, paths))
  if (!isObject(value)) return value
  const names = [...new Set(paths.map(([name = '']) => name))].filter((name) => Object.hasOwn(value, name))
  return Object.fromEntries(
    names.map((name) => [
      name,
      partOf(
        value[name],
        paths.filter((path) => path[0] === name).map((path) => path.slice(1)),
      ),
    ]),
  )
}

/**
 * The parts of a state's values that `select` names: `values.messages` is one field, `values.messages.id` are the ids
 * of its items. Undefined if `select` names no part. Below the first field, `select` uses the names of the printed
 * JSON, which may differ from the names of the object.
 */
export function partOfValues(values: unknown, select: readonly string[]): unknown {
  const paths = pathsOf(select)
  if (paths.length === 0) return undefined
  if (!isObject(values)) return values
  const below = (name: string): Path[] =>
    paths.filter((path) => path[0] === name).map((path) => path.slice(1))
  const names = [...new Set(paths.map(([name = '']) => name))].filter((name) => Object.hasOwn(values, name))
  return Object.fromEntries(
    names.map((name) => {
      const wanted = below(name)
      if (wanted.some((path) => path.length === 0)) return [name, values[name]]
      return [name, partOf(JSON.parse(graphJsonText(values[name])), wanted)]
    }),
  )
}
