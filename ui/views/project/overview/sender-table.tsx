import { useState } from 'react'
import { MOST_READ, useSenders } from '../../../data/overview/checks.ts'
import type { CheckName } from '../../../data/overview/figures.ts'
import { countText } from '../../../parts/format/numbers.ts'
import { Loaded } from '../../../parts/states.tsx'
import { Table } from '../../../parts/table/table.tsx'
import { CHECK_NAMES } from '../../../parts/verdicts/verdicts.tsx'
import type { ChartData } from './charts.ts'
import css from './overview.module.css'

interface SendersProps {
  data: ChartData
  /** The checks that at least one call fails. */
  checks: readonly CheckName[]
}

function Senders({ data: { selection, span }, checks }: SendersProps) {
  const senders = useSenders(selection, span, checks)
  const columns = [
    'Client',
    ...checks.map((check) => ({ name: `${CHECK_NAMES[check]} fails`, isNumber: true })),
  ]
  return (
    <>
      <p className={css['note']}>Of each check, the newest {MOST_READ} calls that fail it.</p>
      <Loaded from={senders}>
        {(found) => (
          <Table label="Clients of failing calls" columns={columns}>
            {found.map(({ name, failed }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {checks.map((check) => (
                  <td key={check} className="number">
                    {countText(failed[check])}
                  </td>
                ))}
              </tr>
            ))}
          </Table>
        )}
      </Loaded>
    </>
  )
}

/** The SDKs and instrumentations, with versions, that sent the failing calls; read when the table is opened. */
export function SenderTable(props: SendersProps) {
  const [isOpen, setOpen] = useState(false)
  if (props.checks.length === 0) return null
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Which clients send the calls that fail</summary>
      {isOpen && <Senders {...props} />}
    </details>
  )
}
