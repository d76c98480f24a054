import { misspeltText } from '../../base/text/misspelt-names.ts'
import { type Config, readConfig } from '../../config.ts'
import { misused, readArguments, saidText } from '../arguments/command-arguments.ts'
import { FORMAT_FLAGS, wantsJson } from '../arguments/output-format.ts'

const HELP = `Usage: weir config [options]

Prints the settings in effect with their sources: the environment or the default. Secrets are masked.

Options:
  --format WORD    table for people, or json: a list of name, value and source (default: table)
  -h, --help       print this`

/** `weir config`: the effective configuration, secrets masked, with the source of each value. */
export async function config(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FORMAT_FLAGS, HELP)
  if (positionals.length > 0) throw misused(`weir config takes no arguments${saidText(positionals)}.`, HELP)
  const asJson = wantsJson(values)
  const settings = readConfig()
  console.log(asJson ? JSON.stringify(settings.settings, null, 2) : describeConfig(settings))
  for (const misspelt of settings.misspelt) console.error(`weir config: ${misspeltText(misspelt)}`)
  return 0
}

/** The effective values, one aligned line each with its source; secrets are masked. */
export function describeConfig({ settings }: Pick<Config, 'settings'>): string {
  const width = Math.max(...settings.map(({ name }) => name.length))
  return settings
    .map(
      ({ name, value, source }) => `${name.padEnd(width)}  ${value === '' ? '(unset)' : value}  (${source})`,
    )
    .join('\n')
}
