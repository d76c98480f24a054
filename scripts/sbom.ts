import { execFileSync } from 'node:child_process'

interface Component {
  'bom-ref': string
  name: string
  group?: string
  properties?: { name: string; value: string }[]
}

/** The parts of CycloneDX 1.5 that are changed here. */
export interface Sbom {
  serialNumber?: string
  metadata: { timestamp?: string; component: Component }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

const DEVELOPMENT = 'cdx:npm:package:development'

/**
 * The parts of the package: what it depends on, and the development packages whose code it contains. `whole` lists all
 * packages of package-lock.json. `npm sbom --omit dev` would leave out packages that a development package needs, too.
 * Without a time and a number, the same lock file gives the same text. Pure.
 */
export function shippedParts(whole: Sbom, name: string, contained: ReadonlySet<string>): Sbom {
  const components = whole.components
    .filter(
      (one) =>
        contained.has(fullName(one)) || !one.properties?.some((property) => property.name === DEVELOPMENT),
    )
    .sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1))
  const refs = new Set([whole.metadata.component['bom-ref'], ...components.map((one) => one['bom-ref'])])
  const { serialNumber: _, ...rest } = whole
  const { timestamp: __, ...metadata } = whole.metadata
  return {
    ...rest,
    // npm writes the name of the folder.
    metadata: { ...metadata, component: { ...metadata.component, name } },
    components,
    dependencies: whole.dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) })),
  }
}

function fullName({ group, name }: Component): string {
  return group === undefined ? name : `${group}/${name}`
}

/** The SBOM of package-lock.json in `root`, with everything that development needs. */
export function wholeSbom(root: string): Sbom {
  const format = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application']
  // Without `--include`, npm leaves out packages where NODE_ENV is `production`.
  const args = ['sbom', '--package-lock-only', '--include=dev', ...format]
  const text = execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })
  return JSON.parse(text) as Sbom
}
