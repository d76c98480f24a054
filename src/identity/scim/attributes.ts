import { isObject, type JsonObject } from '../../schema/json.ts'
import { type GroupFields, type MemberChange, ScimFault, URN, type UserFields } from './scim.ts'

const MAX_TEXT = 320
const EMAIL_VALUE = /^emails(\[.*\])?\.value$/
const ONE_MEMBER = /^members\[value eq "([^"]*)"\]$/i

export function fault(detail: string): ScimFault {
  return new ScimFault(400, 'invalidValue', detail)
}

/** The name of an attribute in lower case, since names have no case, without the name of its schema. */
function nameOf(path: string): string {
  const name = path.trim().toLowerCase()
  const schema = [URN.user, URN.group].find((urn) => name.startsWith(`${urn.toLowerCase()}:`))
  return schema === undefined ? name : name.slice(schema.length + 1)
}

/** A value of a single attribute; Entra also sends it as a list of one object. */
function single(value: unknown): unknown {
  const [first, second] = Array.isArray(value) ? (value as unknown[]) : [value]
  return second === undefined && isObject(first) && 'value' in first ? first['value'] : first
}

/** A text, or null for none. */
function textOf(name: string, sent: unknown): string | null {
  const value = single(sent)
  if (value === null || value === undefined) return null
  if (typeof value !== 'string' || value.length > MAX_TEXT)
    throw fault(`${name} must be a text of at most ${MAX_TEXT} characters.`)
  return value.trim() === '' ? null : value.trim()
}

function requiredText(name: string, sent: unknown): string {
  const text = textOf(name, sent)
  if (text === null) throw fault(`${name} must not be empty.`)
  return text
}

/** True or false, which Entra also sends as text. */
function flagOf(name: string, sent: unknown): boolean {
  const value = single(sent)
  const text = typeof value === 'string' ? value.toLowerCase() : value
  if (text === true || text === 'true') return true
  if (text === false || text === 'false') return false
  throw fault(`${name} must be true or false.`)
}

/** The primary address of a list, else its first. */
function emailOf(sent: unknown): Pick<UserFields, 'email'> {
  const list = (Array.isArray(sent) ? sent : [sent]).filter(isObject)
  const chosen = list.find((one) => one['primary'] === true || one['primary'] === 'True') ?? list[0]
  const email = chosen === undefined ? null : textOf('emails.value', chosen['value'])
  return email === null ? {} : { email: email.toLowerCase() }
}

/** What one attribute of a user changes; nothing for attributes that are not kept. */
export function userAttribute(path: string, value: unknown): UserFields {
  const name = nameOf(path)
  if (EMAIL_VALUE.test(name)) return emailOf({ value })
  switch (name) {
    case 'username':
      return { user_name: requiredText(path, value) }
    case 'externalid':
      return { external_id: textOf(path, value) }
    case 'active':
      return { active: flagOf(path, value) }
    case 'displayname':
    case 'name.formatted':
      return { full_name: textOf(path, value) }
    case 'name.givenname':
      return { given_name: textOf(path, value) }
    case 'name.familyname':
      return { family_name: textOf(path, value) }
    case 'name':
      return isObject(value) ? readAttributes(value, userAttribute, 'name.') : {}
    case 'emails':
      return emailOf(value)
    default:
      return {}
  }
}

export function readAttributes(
  sent: JsonObject,
  read: (path: string, value: unknown) => UserFields,
  prefix = '',
): UserFields {
  const all = Object.entries(sent).map(([name, value]) => read(`${prefix}${name}`, value))
  return Object.assign({}, ...all) as UserFields
}

/** A user as sent to create or replace one. @throws ScimFault */
export function readUser(sent: unknown): UserFields & { user_name: string } {
  if (!isObject(sent)) throw new ScimFault(400, 'invalidSyntax', 'The body must be a JSON object.')
  const fields = readAttributes(sent, userAttribute)
  const { user_name } = fields
  if (user_name === undefined) throw fault('userName is required.')
  return { ...fields, user_name }
}

/** What an operation of a PATCH does with an attribute; other requests replace all that they name. */
export type PatchWord = 'add' | 'remove' | 'replace'

function memberIds(sent: unknown): string[] {
  const list: unknown[] = Array.isArray(sent) ? sent : [sent]
  return list.map((one) => {
    const id = isObject(one) ? one['value'] : one
    if (typeof id !== 'string') throw fault('members must be a list of {"value": id}.')
    return id
  })
}

/** What one attribute of a group changes. */
export function groupAttribute(path: string, value: unknown, op: PatchWord): GroupFields {
  const name = nameOf(path)
  const [, one] = ONE_MEMBER.exec(path.trim()) ?? []
  if (one !== undefined) return { members: [{ op: op === 'remove' ? 'remove' : 'add', user_ids: [one] }] }
  switch (name) {
    case 'displayname':
      return { display_name: requiredText(path, value), members: [] }
    case 'externalid':
      return { external_id: op === 'remove' ? null : textOf(path, value), members: [] }
    case 'members':
      return { members: [memberChange(op, value)] }
    default:
      return { members: [] }
  }
}

function memberChange(op: PatchWord, value: unknown): MemberChange {
  // Without a value, all members are removed.
  if (op === 'remove' && (value === undefined || value === null)) return { op: 'set', user_ids: [] }
  const user_ids = value === null || value === undefined ? [] : memberIds(value)
  return { op: op === 'replace' ? 'set' : op, user_ids }
}

export function joined(changes: readonly GroupFields[]): GroupFields {
  const members = changes.flatMap((change) => change.members)
  return { ...(Object.assign({}, ...changes) as GroupFields), members }
}

/** A group as sent to create or replace one: its members are those that are named, and no others. @throws ScimFault */
export function readGroup(sent: unknown): GroupFields & { display_name: string } {
  if (!isObject(sent)) throw new ScimFault(400, 'invalidSyntax', 'The body must be a JSON object.')
  const fields = joined([
    { members: [{ op: 'set', user_ids: [] }] },
    ...Object.entries(sent).map(([name, value]) => groupAttribute(name, value, 'replace')),
  ])
  const { display_name } = fields
  if (display_name === undefined) throw fault('displayName is required.')
  return { ...fields, display_name }
}
