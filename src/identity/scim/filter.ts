import { ScimFault, type ScimFilter } from './scim.ts'

const ATTRIBUTES = ['id', 'userName', 'externalId', 'displayName'] as const
const EQUALITY = /^\s*([\w:.]+)\s+eq\s+"((?:[^"\\]|\\["\\])*)"\s*$/i

/** The filter of a list: one equality. @throws ScimFault invalidFilter */
export function readFilter(text: string | undefined): ScimFilter | undefined {
  if (text === undefined || text.trim() === '') return undefined
  const [, path = '', quoted = ''] = EQUALITY.exec(text) ?? []
  const name = path.slice(path.lastIndexOf(':') + 1).toLowerCase()
  const attribute = ATTRIBUTES.find((one) => one.toLowerCase() === name)
  if (attribute === undefined)
    throw new ScimFault(
      400,
      'invalidFilter',
      `The filter must be ATTRIBUTE eq "VALUE" with ${ATTRIBUTES.join(', ')}.`,
    )
  return { attribute, value: quoted.replaceAll(/\\(["\\])/g, '$1') }
}
