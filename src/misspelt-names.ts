import { editDistance } from './base/edit-distance.ts'

/** An environment variable that nobody reads, and the one that was most likely meant. */
export interface MisspeltName {
  readonly name: string
  readonly meant: string
}

const PREFIX = 'WEIR_'
/** What commands read besides the settings. */
const OF_COMMANDS = ['WEIR_URL', 'WEIR_DEPLOYMENT_URL', 'WEIR_API_KEY']
/** What Kubernetes sets in every container for a service with the name. */
const OF_KUBERNETES = /_(SERVICE_(HOST|PORT)|PORT_\d+_(TCP|UDP))(_|$)/
/** Shorter names are too close to those of other programs: only what differs in case and underscores counts. */
const LETTERS_FOR = { oneMistake: 6, twoMistakes: 14 }

/**
 * The names in `env` that look like one of `known` and are none: `DATADIR`, `CLICKHOUSE_URI`, `WEIR_PORT`. What others
 * commonly set must not be among them, so only a letter or two may differ, and all of what begins with `WEIR_` is ours.
 */
export function findMisspelt(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): MisspeltName[] {
  const ours = [...known, ...OF_COMMANDS]
  return Object.keys(env).flatMap((name) => {
    if (ours.includes(name) || isOfKubernetes(name, env[name])) return []
    const meant = meantBy(name, ours)
    // With both set, the right one is read.
    return meant === undefined || env[meant] !== undefined ? [] : [{ name, meant }]
  })
}

function isOfKubernetes(name: string, value = ''): boolean {
  return OF_KUBERNETES.test(name) || /^(tcp|udp):\/\//.test(value)
}

function meantBy(name: string, ours: readonly string[]): string | undefined {
  const isPrefixed = name.toUpperCase().startsWith(PREFIX)
  const asked = isPrefixed ? [bare(name), bare(name.slice(PREFIX.length))] : [bare(name)]
  const byDistance = ours
    .map((meant) => ({ meant, distance: Math.min(...asked.map((text) => editDistance(text, bare(meant)))) }))
    .sort((a, b) => a.distance - b.distance)
  const [nearest] = byDistance
  if (nearest === undefined) return undefined
  return isPrefixed || nearest.distance <= allowedMistakes(bare(nearest.meant)) ? nearest.meant : undefined
}

/** Without what is easily left out or mixed up. */
function bare(name: string): string {
  return name.toUpperCase().replace(/[^A-Z0-9]/g, '')
}

function allowedMistakes({ length }: string): number {
  if (length >= LETTERS_FOR.twoMistakes) return 2
  return length >= LETTERS_FOR.oneMistake ? 1 : 0
}
