import { isObject } from '../../schema/json.ts'
import { fault, groupAttribute, joined, type PatchWord, readAttributes, userAttribute } from './attributes.ts'
import { type GroupFields, ScimFault, type UserFields } from './scim.ts'

const MAX_OPERATIONS = 1000

interface Change {
  op: PatchWord
  path: string | undefined
  value: unknown
}

/** The operations of a PATCH, whose words have any case. @throws ScimFault */
function operationsOf(sent: unknown): Change[] {
  const list = isObject(sent)
    ? Object.entries(sent).find(([name]) => name.toLowerCase() === 'operations')?.[1]
    : undefined
  if (!Array.isArray(list) || list.length === 0 || list.length > MAX_OPERATIONS)
    throw new ScimFault(400, 'invalidSyntax', `Operations must be a list of 1 to ${MAX_OPERATIONS}.`)
  return list.map((one: unknown) => {
    const { op, path, value } = isObject(one) ? one : {}
    const word = typeof op === 'string' ? op.toLowerCase() : undefined
    if (word !== 'add' && word !== 'remove' && word !== 'replace')
      throw new ScimFault(400, 'invalidSyntax', 'op must be add, remove or replace.')
    if (path !== undefined && typeof path !== 'string')
      throw new ScimFault(400, 'invalidSyntax', 'path must be a text.')
    return { op: word, path, value }
  })
}

/** The changes of a user's PATCH. @throws ScimFault */
export function readUserPatch(sent: unknown): UserFields {
  const changes = operationsOf(sent).map(({ op, path, value }): UserFields => {
    if (path !== undefined) return userAttribute(path, op === 'remove' ? null : value)
    if (op === 'remove' || !isObject(value))
      throw fault('An operation without a path needs an object as its value.')
    return readAttributes(value, userAttribute)
  })
  return Object.assign({}, ...changes) as UserFields
}

/** The changes of a group's PATCH. @throws ScimFault */
export function readGroupPatch(sent: unknown): GroupFields {
  return joined(
    operationsOf(sent).map(({ op, path, value }) => {
      if (path !== undefined) return groupAttribute(path, value, op)
      if (op === 'remove' || !isObject(value))
        throw fault('An operation without a path needs an object as its value.')
      return joined(Object.entries(value).map(([name, one]) => groupAttribute(name, one, op)))
    }),
  )
}
