import { parseAllDocuments } from 'yaml'

export type Mapping = Record<string, unknown>

const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
/** Kinds of objects that are always rendered, and kinds that a switch adds. */
const KINDS = ['NetworkPolicy', 'PodDisruptionBudget', 'Service', 'Service', 'ServiceAccount', 'StatefulSet']
/** Seconds that a server needs at most to stop, after the delay. */
const STOP_SECONDS = 20

/** The value at a path such as `spec.template.spec`; undefined if there is none. */
function at(value: unknown, path: string): unknown {
  let here = value
  for (const key of path.split('.')) here = (here as Mapping | null | undefined)?.[key]
  return here
}

function list(value: unknown, path: string): Mapping[] {
  return (at(value, path) ?? []) as Mapping[]
}

/** Problems of the objects that Helm has rendered with these values. Pure. */
export function renderedProblems(text: string, values: Mapping): string[] {
  const documents = parseAllDocuments(text)
  const faults = documents.flatMap(({ errors }) => errors.map(({ message }) => message))
  const objects = documents.map((one) => one.toJS() as Mapping | null).filter((one) => one !== null)
  const problems = [...faults, ...kindProblems(objects, values)]
  const server = objects.find(({ kind }) => kind === 'StatefulSet')
  if (server === undefined) return problems
  problems.push(...serverProblems(server, values), ...rightProblems(server))
  const backup = objects.find(({ kind }) => kind === 'CronJob')
  if (backup !== undefined) problems.push(...backupProblems(backup, server))
  const labels = at(server, 'spec.template.metadata.labels') as Mapping
  const ports = list(server, 'spec.template.spec.containers').flatMap((one) => list(one, 'ports'))
  const names = new Set(ports.map(({ name }) => name))
  for (const object of objects) {
    const title = `${String(object['kind'])} ${String(at(object, 'metadata.name'))}`
    const wrong = (problem: string): void => void problems.push(`${title}: ${problem}`)
    if (!NAME.test(String(at(object, 'metadata.name')))) wrong('its name is not valid')
    if (object['kind'] === 'ServiceMonitor') {
      if (selected(objects, object) !== 1) wrong('it must select one Service')
      continue
    }
    for (const path of ['spec.selector', 'spec.selector.matchLabels', 'spec.podSelector.matchLabels'])
      for (const [label, value] of Object.entries((at(object, path) ?? {}) as Mapping))
        if (typeof value === 'string' && labels[label] !== value) wrong(`${label} selects no server`)
    for (const { targetPort } of object['kind'] === 'Service' ? list(object, 'spec.ports') : [])
      if (!names.has(targetPort)) wrong(`servers have no port ${String(targetPort)}`)
  }
  return problems
}

/** The number of Services that a ServiceMonitor selects. */
function selected(objects: readonly Mapping[], monitor: Mapping): number {
  const wanted = Object.entries(at(monitor, 'spec.selector.matchLabels') as Mapping)
  return objects.filter(({ kind, metadata }) => {
    const labels = (at(metadata, 'labels') ?? {}) as Mapping
    return kind === 'Service' && wanted.every(([name, value]) => labels[name] === value)
  }).length
}

function kindProblems(objects: readonly Mapping[], values: Mapping): string[] {
  const isKeda = at(values, 'autoscaling.waiting.source') === 'keda'
  const expected = [
    ...KINDS,
    ...(at(values, 'autoscaling.enabled') === true
      ? [isKeda ? 'ScaledObject' : 'HorizontalPodAutoscaler']
      : []),
    ...(Object.keys(at(values, 'setup') ?? {}).length > 0 ? ['ConfigMap'] : []),
    ...(at(values, 'backup.enabled') === true ? ['CronJob'] : []),
    ...(at(values, 'ingress.enabled') === true ? ['Ingress'] : []),
    ...(at(values, 'monitoring.serviceMonitor.enabled') === true ? ['ServiceMonitor'] : []),
    ...(at(values, 'monitoring.rules.enabled') === true ? ['PrometheusRule'] : []),
  ].sort()
  const found = objects.map(({ kind }) => String(kind)).sort()
  return found.join() === expected.join()
    ? []
    : [`it has ${found.join(', ')} in place of ${expected.join(', ')}`]
}

/**
 * Checks probes, volumes, the time to stop and secrets. Either the chart or the autoscaler must set the number of
 * servers, not both.
 */
function serverProblems(server: Mapping, values: Mapping): string[] {
  const problems: string[] = []
  const pod = at(server, 'spec.template.spec')
  const [container] = list(pod, 'containers')
  const probes = { startupProbe: '/ok', livenessProbe: '/ok', readinessProbe: '/ready' }
  for (const [probe, path] of Object.entries(probes)) {
    const asked = at(container, `${probe}.httpGet.path`)
    if (asked !== path) problems.push(`${probe} asks ${String(asked)}, not ${path}`)
  }
  const claims = list(server, 'spec.volumeClaimTemplates').map((claim) => at(claim, 'metadata.name'))
  const volumes = [...claims, ...list(pod, 'volumes').map(({ name }) => name)]
  for (const { name } of list(container, 'volumeMounts'))
    if (!volumes.includes(name)) problems.push(`there is no volume ${String(name)}`)
  const env = list(container, 'env')
  const delay = Number(env.find(({ name }) => name === 'DRAIN_DELAY_SECONDS')?.['value'])
  if (!(Number(at(pod, 'terminationGracePeriodSeconds')) > delay + STOP_SECONDS))
    problems.push('terminationGracePeriodSeconds is shorter than a stop may take')
  for (const { name, value } of env) {
    if (typeof value !== 'string') problems.push(`${String(name)} is not text`)
    if (/SECRET|PASSWORD|KEY|_URL$/.test(String(name))) problems.push(`${String(name)} is not from a Secret`)
  }
  if (list(container, 'envFrom').length === 0) problems.push('no Secret is used')
  if (!/:[\w.-]*\d[\w.-]*$/.test(String(container?.['image']))) problems.push('the image is not pinned')
  const isCounted = at(server, 'spec.replicas') !== undefined
  if (isCounted === (at(values, 'autoscaling.enabled') === true))
    problems.push('replicas must be set exactly when nothing else sets the number of servers')
  return problems
}

/** Checks that the job backs up what the servers use, with their rights, and that no Service takes it for a server. */
function backupProblems(backup: Mapping, server: Mapping): string[] {
  const [job, own] = [at(backup, 'spec.jobTemplate.spec.template'), at(server, 'spec.template')]
  const [here, there] = [job, own].map((one) => list(one, 'spec.containers')[0])
  const problems = rightProblems({ spec: { template: job } }).map((problem) => `backup: ${problem}`)
  for (const path of ['image', 'envFrom'])
    if (JSON.stringify(at(here, path)) !== JSON.stringify(at(there, path)))
      problems.push(`backup: ${path} is not that of the servers`)
  const places = (one: unknown): unknown[] => list(one, 'volumeMounts').map(({ mountPath }) => mountPath)
  // The job applies no set-up.
  for (const place of places(there))
    if (place !== '/setup' && !places(here).includes(place))
      problems.push(`backup: ${String(place)}, to which settings may point, is not mounted`)
  const name = String(at(server, 'metadata.name'))
  const claims = list(job, 'spec.volumes').map((volume) => at(volume, 'persistentVolumeClaim.claimName'))
  if (!claims.includes(`data-${name}-0`))
    problems.push('backup: the volume of the first server is not mounted')
  const label = 'app.kubernetes.io/name'
  const [mine, theirs] = [job, own].map((one) => (at(one, 'metadata.labels') as Mapping)[label])
  if (mine === theirs) problems.push('backup: Services select its pods')
  return problems
}

/** Checks what a server must not be able to do: write to its image, be root, have capabilities. */
function rightProblems(server: Mapping): string[] {
  const pod = at(server, 'spec.template.spec')
  const [container] = list(pod, 'containers')
  const wanted: [unknown, string, unknown][] = [
    [pod, 'securityContext.runAsUser', 1000],
    [pod, 'securityContext.runAsNonRoot', true],
    [container, 'securityContext.readOnlyRootFilesystem', true],
    [container, 'securityContext.allowPrivilegeEscalation', false],
    [container, 'securityContext.capabilities.drop.0', 'ALL'],
  ]
  const problems = wanted
    .filter(([of, path, value]) => at(of, path) !== value)
    .map(([, path, value]) => `${path} is not ${String(value)}`)
  const tmp = list(container, 'volumeMounts').find(({ mountPath }) => mountPath === '/tmp')
  const volume = list(pod, 'volumes').find(({ name }) => name === tmp?.['name'])
  if (tmp === undefined || volume?.['emptyDir'] === undefined) problems.push('/tmp is no emptyDir')
  return problems
}
