import { env } from 'node:process'

/**
 * Milliseconds that a test or hook of a campaign may take, on a machine that is several times slower than ours. Files
 * that need them say why in the line above.
 */
export const LONG_MS = 10 * 60_000

/**
 * The part of each campaign that is run: above 0, at most 1 (the default). `.ci/run` sets a small part to keep the
 * total time short.
 */
export function campaignShare(): number {
  const share = Number(env['CAMPAIGN_SHARE'] ?? 1)
  if (!(share > 0 && share <= 1)) throw new Error(`CAMPAIGN_SHARE must be above 0 and at most 1: ${share}`)
  return share
}

/** A sample of `items`, spread evenly; its size is the campaign's share. */
export function campaignSample<T>(items: readonly T[]): T[] {
  const every = Math.round(1 / campaignShare())
  return items.filter((_item, index) => index % every === 0)
}

/** The share of the `whole` number of rounds, runs or inputs of a campaign: at least `least`, at most `whole`. */
export function campaign(whole: number, least = 1): number {
  return Math.max(least, Math.ceil(whole * campaignShare()))
}
