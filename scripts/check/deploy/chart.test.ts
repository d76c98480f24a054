import { describe, expect, it } from 'vitest'
import { templateProblems } from './chart.ts'
import { renderedProblems } from './rendered-chart.ts'

describe('templateProblems', () => {
  it('finds a value that is missing, one that nothing uses, and a block without an end', () => {
    const values = { image: { tag: '' }, env: {}, unused: 1 }
    const files = { 'a.yaml': '{{- if .Values.image.tag }}{{ .Values.image.name }}{{ .Values.env }}' }
    expect(templateProblems(files, values)).toEqual([
      'a.yaml: there is no value image.name',
      'a.yaml: 1 blocks begin, and 0 end',
      'values.yaml: no template uses unused',
    ])
    expect(templateProblems({ a: '{{ .Values.x }}' }, { x: { y: 1 } })).toEqual([])
  })
})

describe('renderedProblems', () => {
  const server = `
kind: StatefulSet
metadata: { name: weir }
spec:
  replicas: 3
  template:
    metadata: { labels: { app: weir } }
    spec:
      terminationGracePeriodSeconds: 45
      securityContext: { runAsUser: 1000, runAsNonRoot: true }
      containers:
        - image: registry/weir:0.1.0
          securityContext:
            { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: { drop: [ALL] } }
          env: [{ name: DRAIN_DELAY_SECONDS, value: '15' }]
          envFrom: [{ secretRef: { name: s } }]
          ports: [{ name: http, containerPort: 1984 }]
          startupProbe: { httpGet: { path: /ok } }
          livenessProbe: { httpGet: { path: /ok } }
          readinessProbe: { httpGet: { path: /ready } }
          volumeMounts: [{ name: data, mountPath: /data }, { name: graphs, mountPath: /graphs }, { name: tmp, mountPath: /tmp }]
      volumes: [{ name: graphs }, { name: tmp, emptyDir: {} }]
  volumeClaimTemplates: [{ metadata: { name: data } }]
---
kind: Service
metadata: { name: weir }
spec: { selector: { app: weir }, ports: [{ targetPort: http }] }
---
kind: Service
metadata: { name: weir-servers }
spec: { selector: { app: weir }, ports: [{ targetPort: http }] }
---
kind: ServiceAccount
metadata: { name: weir }
---
kind: NetworkPolicy
metadata: { name: weir }
---
kind: PodDisruptionBudget
metadata: { name: weir }
spec: { selector: { matchLabels: { app: weir } } }
`

  it.each([
    [
      'livenessProbe: { httpGet: { path: /ok }',
      'livenessProbe: { httpGet: { path: /ready }',
      'livenessProbe asks',
    ],
    ['PeriodSeconds: 45', 'PeriodSeconds: 30', 'shorter than a stop'],
    ['name: DRAIN_DELAY_SECONDS, value', 'name: DATABASE_URL, value', 'not from a Secret'],
    ['weir:0.1.0', 'weir:latest', 'not pinned'],
    ['volumes: [{ name: graphs }, ', 'volumes: [', 'no volume graphs'],
    ['runAsUser: 1000', 'runAsUser: 0', 'runAsUser is not 1000'],
    ['readOnlyRootFilesystem: true', 'x: true', 'readOnlyRootFilesystem is not true'],
    ['drop: [ALL]', 'drop: []', 'capabilities.drop.0 is not ALL'],
    ['emptyDir: {}', 'hostPath: {}', '/tmp is no emptyDir'],
    ['metadata: { name: data }', 'metadata: { name: other }', 'no volume data'],
    ['targetPort: http ', 'targetPort: other ', 'no port other'],
    ['matchLabels: { app: weir }', 'matchLabels: { app: other }', 'selects no server'],
    ['replicas: 3', 'x: 3', 'replicas must be set'],
    ['kind: PodDisruptionBudget', 'kind: Other', 'in place of'],
  ])('finds %s changed to %s', (good, bad, problem) => {
    expect(renderedProblems(server, {})).toEqual([])
    const changed = server.replace(good, bad)
    expect(changed).not.toBe(server)
    expect(renderedProblems(changed, {}).join()).toContain(problem)
  })

  it('finds a backup that other rights, another image or a Service would get', () => {
    const job = (labels: string, image: string, claim: string, mounts = ''): string => `${server}---
kind: CronJob
metadata: { name: weir-backup }
spec:
  jobTemplate:
    spec:
      template:
        metadata: { labels: ${labels} }
        spec:
          securityContext: { runAsUser: 1000, runAsNonRoot: true }
          containers:
            - image: ${image}
              securityContext:
                { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: { drop: [ALL] } }
              envFrom: [{ secretRef: { name: s } }]
              volumeMounts: [{ name: tmp, mountPath: /tmp }, { name: data, mountPath: /data }${mounts}]
          volumes:
            - { name: tmp, emptyDir: {} }
            - { name: data, persistentVolumeClaim: { claimName: ${claim} } }
`
    const values = { backup: { enabled: true } }
    const own = '{ app.kubernetes.io/name: weir-backup }'
    expect(
      renderedProblems(
        job(own, 'registry/weir:0.1.0', 'data-weir-0', ', { name: graphs, mountPath: /graphs }'),
        values,
      ),
    ).toEqual([])
    expect(renderedProblems(job('{ app: weir }', 'registry/other:1', 'data'), values)).toEqual([
      'backup: image is not that of the servers',
      'backup: /graphs, to which settings may point, is not mounted',
      'backup: the volume of the first server is not mounted',
      'backup: Services select its pods',
    ])
  })
})
