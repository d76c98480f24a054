import { editDistance } from './edit-distance.ts'

/** An environment variable that is not read, and the most similar setting. */
export interface MisspeltName {
  readonly name: string
  readonly meant: string
}

const PREFIX = 'WEIR_'
/** Variables that commands read in addition to the settings. */
const OF_COMMANDS = ['WEIR_URL', 'WEIR_DEPLOYMENT_URL', 'WEIR_API_KEY']
/** Variables that Kubernetes sets in every container for a service. */
const OF_KUBERNETES = /_(SERVICE_(HOST|PORT)|PORT_\d+_(TCP|UDP))(_|$)/
/** Minimum letters of a name with one or two mistakes; shorter names match only by `isSlip`. */
const LETTERS_FOR = { oneMistake: 6, twoMistakes: 14 }
const MOST_MISTAKES = 2
/** Minimum letters of a name that can match. */
const FEWEST_LETTERS = 3

/**
 * The names in `env` that are similar to one of `known`: `DATADIR`, `CLICKHOUSE_URI`, `WEIR_PORT`. Names differ by one
 * or two letters, so that common variables of other programs do not match; every unknown `WEIR_` name matches.
 */
export function findMisspelt(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): MisspeltName[] {
  const ours = [...known, ...OF_COMMANDS]
  return Object.keys(env).flatMap((name) => {
    if (ours.includes(name) || isOfKubernetes(name, env[name])) return []
    const meant = meantBy(name, ours)
    // If the correct name is set too, there is nothing to report.
    return meant === undefined || env[meant] !== undefined ? [] : [{ name, meant }]
  })
}

export function misspeltText({ name, meant }: MisspeltName): string {
  return `${name} is not a setting and is not read; ${meant} is one.`
}

function isOfKubernetes(name: string, value = ''): boolean {
  return OF_KUBERNETES.test(name) || /^(tcp|udp):\/\//.test(value)
}

function meantBy(name: string, ours: readonly string[]): string | undefined {
  const slipped = ours.find((meant) => isSlip(name, meant))
  if (slipped !== undefined) return slipped
  const isPrefixed = name.toUpperCase().startsWith(PREFIX)
  const asked = isPrefixed ? [bare(name), bare(name.slice(PREFIX.length))] : [bare(name)]
  // Every start compares all variables, so lengths exclude most pairs.
  const similar = isPrefixed ? ours : ours.filter((meant) => isOfSimilarLength(name, meant))
  const byDistance = similar
    .map((meant) => ({ meant, distance: Math.min(...asked.map((text) => editDistance(text, bare(meant)))) }))
    .sort((a, b) => a.distance - b.distance)
  const [nearest] = byDistance
  if (nearest === undefined) return undefined
  return isPrefixed || nearest.distance <= allowedMistakes(bare(nearest.meant)) ? nearest.meant : undefined
}

function isOfSimilarLength(name: string, meant: string): boolean {
  return Math.abs(bare(name).length - bare(meant).length) <= MOST_MISTAKES
}

/** The letters and digits of a name, in upper case. */
function bare(name: string): string {
  return name.toUpperCase().replace(/[^A-Z0-9]/g, '')
}

function allowedMistakes({ length }: string): number {
  if (length >= LETTERS_FOR.twoMistakes) return MOST_MISTAKES
  return length >= LETTERS_FOR.oneMistake ? 1 : 0
}

/**
 * Whether a short name has a typical slip: swapped neighbours, or a letter missing or doubled. Any other added or
 * replaced letter makes names that other programs use, such as POST and HOSTS.
 */
function isSlip(name: string, meant: string): boolean {
  if (meant.length >= LETTERS_FOR.oneMistake || name.length < FEWEST_LETTERS) return false
  if (editDistance(name, meant) !== 1) return false
  if (name.length === meant.length) return name.split('').sort().join('') === meant.split('').sort().join('')
  return name.length < meant.length || name.replace(/(.)\1/, '$1') === meant
}
