const PLAIN_KEY = /^[A-Za-z_$][\w$-]*$/

function step(path: string, key: string, inArray: boolean): string {
  if (inArray) return `${path}[${key}]`
  if (!PLAIN_KEY.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}

function childOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
}

/**
 * A JSON Pointer (RFC 6901) into `value`, written the way issues show it: `/messages/0/role` is
 * `messages[0].role`. `last` is one more key below it. The value distinguishes array indexes from numeric keys.
 */
export function issuePath(value: unknown, pointer: string, last?: string): string {
  let path = ''
  let node = value
  for (const escaped of pointer.split('/').slice(1)) {
    const key = escaped.replace(/~1/g, '/').replace(/~0/g, '~')
    path = step(path, key, Array.isArray(node))
    node = childOf(node, key)
  }
  return last === undefined ? path : step(path, last, false)
}
