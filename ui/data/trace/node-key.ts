import type { Outline } from '../outline.ts'

/** What runs of one node of the graph of a trace have in common. */
export function nodeKey({ names, types }: Pick<Outline, 'names' | 'types'>, place: number): string {
  return `${types[place] ?? ''} ${names[place] ?? ''}`
}
