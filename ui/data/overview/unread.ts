import { senderOf } from './senders.ts'

/** A number of usage objects that the server does not read, as one client sends it. */
export interface UnreadNumber {
  /** Its path in the response, with `[]` for any place in a list. */
  name: string
  /** Client with version. */
  sender: string
  /** The value in the newest call. */
  value: string
  calls: number
}

export interface RunWithIssues {
  extra?: unknown
  issues?: readonly { code: string; message: string }[]
}

const NAMED = /not read: (.*?)(?: and \d+ more)?\.(?: |$)/
const PLACES = /^(?:outputs|extra\.otel_span\.attributes)\./

/** The names and values in the message of an issue `usage_unread`. */
function numbersIn(message: string): { name: string; value: string }[] {
  return (NAMED.exec(message)?.[1] ?? '').split(', ').flatMap((text) => {
    const [, path, value = ''] = /^(.+) (\S+)$/.exec(text) ?? []
    return path === undefined ? [] : [{ name: path.replace(PLACES, '').replaceAll(/\[\d+\]/g, '[]'), value }]
  })
}

/** Groups the unread numbers of runs, newest first, by name and client; that of most calls first. */
export function countUnread(runs: readonly RunWithIssues[]): UnreadNumber[] {
  const found = new Map<string, UnreadNumber>()
  for (const { extra, issues = [] } of runs) {
    const sender = senderOf(extra)
    const messages = issues.filter(({ code }) => code === 'usage_unread').map(({ message }) => message)
    for (const { name, value } of messages.flatMap(numbersIn)) {
      const key = `${name}\n${sender}`
      const known = found.get(key) ?? { name, sender, value, calls: 0 }
      found.set(key, { ...known, calls: known.calls + 1 })
    }
  }
  return [...found.values()].toSorted((a, b) => b.calls - a.calls || (a.name < b.name ? -1 : 1))
}

/** The lines with which a user reports unread numbers. */
export function reportOf(numbers: readonly UnreadNumber[]): string {
  return numbers
    .map(({ name, value, sender, calls }) => `usage_unread ${name} = ${value} (${sender}, calls: ${calls})`)
    .join('\n')
}
