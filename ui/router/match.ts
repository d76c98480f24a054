/** Values of the `{name}` parts of a path. */
export type PathParams = Readonly<Record<string, string>>

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

/** The parameters of a path under a pattern such as `/traces/{id}`; undefined when it does not fit. */
export function matchPath(pattern: string, path: string): PathParams | undefined {
  const wanted = pattern.split('/')
  const parts = path.replace(/(.)\/+$/, '$1').split('/')
  if (wanted.length !== parts.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, word] of wanted.entries()) {
    const part = decoded(parts[index] ?? '')
    if (part === undefined) return undefined
    const name = /^\{(\w+)\}$/.exec(word)?.[1]
    if (name !== undefined && part !== '') params[name] = part
    else if (word !== part) return undefined
  }
  return params
}
