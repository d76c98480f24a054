import { type ReactNode, useState } from 'react'
import {
  type Assistant,
  type Cron,
  type StoreItem,
  useDeploymentList,
  useVersionChoice,
} from '../../data/deployments/contents.ts'
import { usePermission } from '../../data/session.ts'
import { Button } from '../../parts/controls.tsx'
import { Dialog } from '../../parts/forms/dialog.tsx'
import { JsonView } from '../../parts/json/json-view.tsx'
import { Empty, Failure, Loaded } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { Table, type TableColumn } from '../../parts/table/table.tsx'
import css from './deployments.module.css'
import { StudioLink } from './studio-link.tsx'

/** A table of records of a deployment, with a button that loads the next page. */
export function PagedTable<T>({
  label,
  columns,
  from,
  children,
}: {
  label: string
  columns: readonly TableColumn[]
  from: ReturnType<typeof useDeploymentList<T>>
  children(record: T): ReactNode
}) {
  return (
    <Loaded from={from}>
      {({ pages }) => {
        const rows = pages.flatMap((page) => page.rows)
        if (rows.length === 0) return <Empty title={`${label}: none`} />
        return (
          <>
            <Table label={label} columns={columns}>
              {rows.map(children)}
            </Table>
            {from.hasNextPage && (
              <div>
                {from.isFetchNextPageError && <Failure error={from.error} />}
                <Button disabled={from.isFetchingNextPage} onClick={() => void from.fetchNextPage()}>
                  Show more
                </Button>
              </div>
            )}
          </>
        )
      }}
    </Loaded>
  )
}

function Versions({ name, assistant, close }: { name: string; assistant: Assistant; close(): void }) {
  const path = `/assistants/${assistant.assistant_id}/versions`
  const versions = useDeploymentList<Assistant>(name, path)
  const { isAllowed, reason } = usePermission('assistants:update')
  const choice = useVersionChoice(name)
  return (
    <Dialog title={`Versions of ${assistant.name}`} close={close}>
      {choice.error !== null && <Failure error={choice.error} />}
      <PagedTable label="Versions" from={versions} columns={['Version', 'Made', 'Config', 'Use']}>
        {({ version, created_at, config, context, metadata }) => (
          <tr key={version}>
            <td>{version}</td>
            <td>
              <Time time={created_at} />
            </td>
            <td>
              <JsonView value={{ config, context, metadata }} openDepth={1} />
            </td>
            <td>
              <Button
                disabled={!isAllowed || choice.isPending}
                title={reason}
                onClick={() =>
                  choice.mutate({ assistant_id: assistant.assistant_id, version }, { onSuccess: close })
                }
              >
                Use {version}
              </Button>
            </td>
          </tr>
        )}
      </PagedTable>
    </Dialog>
  )
}

export function Assistants({ name }: { name: string }) {
  const assistants = useDeploymentList<Assistant>(name, '/assistants/search')
  const [shown, show] = useState<Assistant>()
  return (
    <>
      <PagedTable
        label="Assistants"
        from={assistants}
        columns={['Name', 'Graph', 'Version', 'Updated', 'Id']}
      >
        {(assistant) => (
          <tr key={assistant.assistant_id}>
            <td>{assistant.name}</td>
            <td>{assistant.graph_id}</td>
            <td>
              <Button look="plain" onClick={() => show(assistant)}>
                {assistant.version}, show all
              </Button>
            </td>
            <td>
              <Time time={assistant.updated_at} />
            </td>
            <td>
              <StudioLink name={name} assistant={assistant.assistant_id}>
                <code>{assistant.assistant_id}</code>
              </StudioLink>
            </td>
          </tr>
        )}
      </PagedTable>
      {shown !== undefined && <Versions name={name} assistant={shown} close={() => show(undefined)} />}
    </>
  )
}

export function Crons({ name }: { name: string }) {
  const crons = useDeploymentList<Cron>(name, '/runs/crons/search')
  return (
    <PagedTable label="Crons" from={crons} columns={['Schedule', 'Next run', 'Thread', 'Id']}>
      {({ cron_id, schedule, next_run_date, thread_id }) => (
        <tr key={cron_id}>
          <td>
            <code>{schedule}</code>
          </td>
          <td>
            <Time time={next_run_date} />
          </td>
          <td>
            {thread_id === null ? (
              'a new one each time'
            ) : (
              <StudioLink name={name} thread={thread_id}>
                <code>{thread_id}</code>
              </StudioLink>
            )}
          </td>
          <td>
            <code>{cron_id}</code>
          </td>
        </tr>
      )}
    </PagedTable>
  )
}

const itemsOf = (data: unknown): StoreItem[] => (data as { items: StoreItem[] }).items

/** The long-term memory of a deployment. */
export function Store({ name }: { name: string }) {
  const items = useDeploymentList<StoreItem>(name, '/store/items/search', { namespace_prefix: [] }, itemsOf)
  return (
    <PagedTable label="Items of the store" from={items} columns={['Namespace', 'Key', 'Value', 'Updated']}>
      {({ namespace, key, value, updated_at }) => (
        <tr key={JSON.stringify([namespace, key])}>
          <td>{namespace.join(' / ')}</td>
          <td>{key}</td>
          <td className={css['wide']}>
            <JsonView value={value} openDepth={1} />
          </td>
          <td>
            <Time time={updated_at} />
          </td>
        </tr>
      )}
    </PagedTable>
  )
}
