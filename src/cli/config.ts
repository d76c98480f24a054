import { describeConfig, readConfig } from '../config.ts'

/** `weir config`: the effective configuration, secrets masked, with the source of each value. */
export async function config(): Promise<number> {
  console.log(describeConfig(readConfig()))
  return 0
}
