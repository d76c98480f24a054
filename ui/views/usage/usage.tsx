import { useRef, useState } from 'react'
import { useSession } from '../../data/session.ts'
import { csvAddress, useUsage } from '../../data/usage/queries.ts'
import { customRangeOf, type RangeName, rangeOf, USAGE_RANGES } from '../../data/usage/range.ts'
import {
  type Grouping,
  GROUPINGS,
  isOfDeployments,
  isOfModels,
  type Measure,
  MEASURES,
  type UsageQuery,
  usageGroupingOf,
  usageKeyOf,
} from '../../data/usage/lines.ts'
import controls from '../../parts/controls.module.css'
import { Button, Select } from '../../parts/controls.tsx'
import { MetadataKey } from '../../parts/forms/metadata-key.tsx'
import { useRowKeys } from '../../parts/keyboard/row-keys.ts'
import { saveFile } from '../../parts/save-file.ts'
import { Empty, Loaded, Skeleton } from '../../parts/states.tsx'
import { TimeRange } from '../../parts/time-range/time-range.tsx'
import { setParam, setParams, useParam } from '../../router/location.ts'
import { textParam, wordParam } from '../../router/params.ts'
import { UsageLimits } from './limits.tsx'
import { UsageRebuild } from './rebuild.tsx'
import { UsageReport } from './report.tsx'
import { withRest } from './table.ts'
import css from './usage.module.css'

const RANGE = wordParam('t', USAGE_RANGES.map(([word]) => word) as [RangeName, ...RangeName[]])
const FROM = textParam('from')
const TO = textParam('to')
const GROUPING = textParam('by')
const MEASURE = wordParam('of', MEASURES)

const METADATA = 'metadata'
const END_USER = 'metadata.user_id'

const GROUPING_NAMES = {
  project: 'By project',
  workspace: 'By workspace',
  user: 'By user',
  api_key: 'By API key',
  model: 'By model',
} as const
const KEY_NAMES = [
  [END_USER, 'By end user (user_id)'],
  [METADATA, 'By metadata …'],
] as const
const MEASURE_NAMES = {
  traces: 'Traces',
  tokens: 'Tokens',
  cost: 'Cost',
  runs: 'Runs of deployments',
  nodes: 'Nodes of deployments',
} as const

/** The page of usage: traces, tokens, costs, and runs of deployments over time, and the limits. */
export function Usage() {
  const { data: session } = useSession()
  if (session === undefined || session === null) return <Skeleton />
  if (!session.features.usage)
    return (
      <Empty title="Usage is not counted on this server">
        <p>
          Set <code>DEFAULT_ORG_FEATURE_ENABLE_GRANULAR_USAGE_REPORTING</code> and{' '}
          <code>GRANULAR_USAGE_TABLE_ENABLED</code> to <code>true</code> and start it again. Counting starts
          then; earlier traces stay uncounted.
        </p>
      </Empty>
    )
  return <UsageOf workspaces={session.workspaces} />
}

/** Shows tokens instead of traces or runs when grouped by model, because each of them may call several models. */
function measureOf(chosen: Measure, grouping: Grouping): Measure {
  if (grouping === 'model' && !isOfModels(chosen)) return 'tokens'
  return usageKeyOf(grouping) !== undefined && isOfDeployments(chosen) ? 'traces' : chosen
}

/** The choice of the grouping, and of the key of the metadata. */
function GroupChoice({
  grouping,
  isOfDeployments: isByDeployment,
}: {
  grouping: Grouping
  isOfDeployments: boolean
}) {
  const [isAsked, ask] = useState(false)
  const key = usageKeyOf(grouping)
  const isByKey = isAsked || (key !== undefined && grouping !== END_USER)
  const names = { ...GROUPING_NAMES, ...(isByDeployment && { project: 'By deployment' }) }
  return (
    <>
      <Select<string>
        label="Group"
        value={isByKey ? METADATA : grouping}
        options={[...GROUPINGS.map((name) => [name, names[name]] as const), ...KEY_NAMES]}
        onChange={(word) => {
          ask(word === METADATA)
          setParam(GROUPING, word === METADATA || word === 'project' ? '' : word)
        }}
      />
      {isByKey && <MetadataKey value={key} choose={(asked) => setParam(GROUPING, `metadata.${asked}`)} />}
    </>
  )
}

/** The report as a CSV file: from the server, or by a key of the metadata from the lines that are shown. */
function Csv({ query }: { query: UsageQuery }) {
  const { data } = useUsage(query)
  const key = usageKeyOf(query.grouping)
  if (key === undefined)
    return (
      <a className={`${controls['button']} ${controls['plain']}`} href={csvAddress(query)} download>
        CSV
      </a>
    )
  const save = async (): Promise<void> => {
    if (data === undefined) return
    const { linesCsv } = await import('../../data/usage/csv.ts')
    const text = linesCsv(key, query.measure, data.stride, withRest(data.lines, data.whole))
    saveFile(`usage-by-${key}.csv`, new Blob([text], { type: 'text/csv' }))
  }
  return (
    <Button look="plain" disabled={data === undefined} onClick={() => void save()}>
      CSV
    </Button>
  )
}

function UsageOf({ workspaces }: { workspaces: readonly { id: string; display_name: string }[] }) {
  const [now] = useState(Date.now)
  const [range, grouping] = [useParam(RANGE), usageGroupingOf(useParam(GROUPING))]
  const key = usageKeyOf(grouping)
  const custom = { from: useParam(FROM), to: useParam(TO) }
  const measure = measureOf(useParam(MEASURE), grouping)
  const query: UsageQuery = {
    ...customRangeOf(custom, rangeOf(range, now)),
    grouping,
    measure,
    workspaces: workspaces.map(({ id }) => id),
  }
  const usage = useUsage(query)
  const page = useRef<HTMLDivElement>(null)
  useRowKeys(page)
  const measures = MEASURES.filter(
    (name) => (grouping !== 'model' || isOfModels(name)) && (key === undefined || !isOfDeployments(name)),
  )
  return (
    <div ref={page} className={css['page']}>
      <div className={css['head']}>
        <h1>Usage</h1>
        <div className={css['choices']}>
          <TimeRange
            value={range}
            options={USAGE_RANGES}
            custom={custom}
            shown={query}
            choose={(word) => setParams({ t: RANGE.write(word), from: undefined, to: undefined })}
            chooseCustom={({ from, to }) =>
              setParams({ t: undefined, from: from || undefined, to: to || undefined })
            }
          />
          <GroupChoice grouping={grouping} isOfDeployments={isOfDeployments(measure)} />
          <Select
            label="Measure"
            value={measure}
            options={measures.map((name) => [name, MEASURE_NAMES[name]])}
            onChange={(word) => setParam(MEASURE, word)}
          />
          <Csv query={query} />
        </div>
      </div>
      <Loaded from={usage}>
        {({ lines, whole, ...found }) => (
          <UsageReport
            {...found}
            lines={withRest(lines, whole)}
            isOld={usage.isPlaceholderData || usage.error !== null}
          />
        )}
      </Loaded>
      <UsageLimits workspaces={workspaces} />
      <UsageRebuild />
    </div>
  )
}
