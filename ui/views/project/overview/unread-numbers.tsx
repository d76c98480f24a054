import { useState } from 'react'
import { MOST_READ, useUnread } from '../../../data/overview/checks.ts'
import { reportOf } from '../../../data/overview/unread.ts'
import { CopyButton } from '../../../parts/controls.tsx'
import { countText } from '../../../parts/format/numbers.ts'
import { Loaded } from '../../../parts/states.tsx'
import { Table } from '../../../parts/table/table.tsx'
import type { ChartData } from './charts.ts'
import css from './overview.module.css'

const COLUMNS = ['Number', 'Client', { name: 'Value', isNumber: true }, { name: 'Calls', isNumber: true }]

function Numbers({ data: { selection, span } }: { data: ChartData }) {
  const unread = useUnread(selection, span)
  return (
    <Loaded from={unread}>
      {(numbers) =>
        numbers.length === 0 ? (
          <p className={css['note']}>Every number was read.</p>
        ) : (
          <>
            <p className={css['note']}>
              Of the newest {MOST_READ} calls with such numbers. They are in no count and no cost: report them
              with these lines.
            </p>
            <Table label="Unread numbers of usage" columns={COLUMNS}>
              {numbers.map(({ name, sender, value, calls }) => (
                <tr key={`${name} ${sender}`}>
                  <th scope="row">
                    <code>{name}</code>
                  </th>
                  <td>{sender}</td>
                  <td className="number">{value}</td>
                  <td className="number">{countText(calls)}</td>
                </tr>
              ))}
            </Table>
            <div>
              <CopyButton text={reportOf(numbers)} label="Copy the lines" />
            </div>
          </>
        )
      }
    </Loaded>
  )
}

/** The numbers of usage objects that no call's counts include, by name and client; read when the table is opened. */
export function UnreadNumbers({ data }: { data: ChartData }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Numbers of usage that were not read</summary>
      {isOpen && <Numbers data={data} />}
    </details>
  )
}
