import { type CheckedGroup, useChecks } from '../../../data/overview/checks.ts'
import { CHECKS, type CheckName } from '../../../data/overview/figures.ts'
import { rowsPath } from '../../../data/overview/selection.ts'
import { countText, shareText } from '../../../parts/format/numbers.ts'
import { Loaded } from '../../../parts/states.tsx'
import { type TableColumn, Table } from '../../../parts/table/table.tsx'
import { CHECK_NAMES, CheckMend } from '../../../parts/verdicts/verdicts.tsx'
import { Link } from '../../../router/link.tsx'
import type { ChartData } from './charts.ts'
import css from './overview.module.css'
import { SenderTable } from './sender-table.tsx'
import { UnreadNumbers } from './unread-numbers.tsx'

type PathTo = (group: CheckedGroup, check?: CheckName) => string

/** Steps of the colour of a share: none, below 1 %, below 10 %, below a half, more. */
function heatOf(share: number): number {
  return share === 0 ? 0 : [0.01, 0.1, 0.5].filter((least) => share >= least).length + 1
}

function Cell({ group, check, pathTo }: { group: CheckedGroup; check: CheckName; pathTo: PathTo }) {
  const failed = group.failed[check]
  const share = group.calls === 0 ? 0 : failed / group.calls
  return (
    <td className="number" data-heat={heatOf(share)}>
      {failed === 0 ? (
        'all hold'
      ) : (
        <Link to={pathTo(group, check)} title={`${countText(failed)} of ${countText(group.calls)} fail`}>
          {countText(failed)} · {shareText(Math.max(share, 0.001))}
        </Link>
      )}
    </td>
  )
}

const COLUMNS: readonly TableColumn[] = [
  'Model calls',
  { name: 'Calls', isNumber: true },
  ...CHECKS.map((check) => ({ name: `${CHECK_NAMES[check]} fails`, isNumber: true })),
]

function HeatMap({ groups, pathTo }: { groups: readonly CheckedGroup[]; pathTo: PathTo }) {
  return (
    <Table label="Failed checks" columns={COLUMNS}>
      {groups.map((group, place) => (
        <tr key={`${place} ${group.name}`}>
          <th scope="row">{group.name}</th>
          <td className="number">
            <Link to={pathTo(group)}>{countText(group.calls)}</Link>
          </td>
          {CHECKS.map((check) => (
            <Cell key={check} {...{ group, check, pathTo }} />
          ))}
        </tr>
      ))}
    </Table>
  )
}

/**
 * Shows the checks that model calls fail, by model or by the chosen group, and the lines of code that correct each
 * fault.
 */
export function FormatDoctor({ data }: { data: ChartData }) {
  const { selection, span } = data
  const checks = useChecks(selection, span)
  const pathTo: PathTo = ({ clauses }, check) => {
    const failing = check === undefined ? [] : [`eq(check_${check}, false)`]
    const calls = { ...selection, subject: 'llm' as const }
    return rowsPath(calls, { start: span.from, end: span.to }, [...clauses, ...failing])
  }
  return (
    <section className={css['doctor']} aria-label="Format doctor">
      <div className={css['caption']}>
        <h2>Format doctor</h2>
        <span className={css['note']}>which checks fail, and the lines that mend them</span>
      </div>
      <Loaded from={checks}>
        {(groups) => {
          const failing = CHECKS.filter((check) => (groups[0]?.failed[check] ?? 0) > 0)
          return (
            <>
              <HeatMap groups={groups} pathTo={pathTo} />
              <SenderTable data={data} checks={failing} />
              <UnreadNumbers data={data} />
              {failing.map((check) => (
                <details key={check}>
                  <summary>How to fix it: {CHECK_NAMES[check]}</summary>
                  <CheckMend check={check} />
                </details>
              ))}
            </>
          )
        }}
      </Loaded>
    </section>
  )
}
