import { type Assistant, useDeploymentList, useDeploymentRead } from '../../data/deployments/contents.ts'
import type { Deployment } from '../../data/deployments/deployments.ts'
import { useSession } from '../../data/session.ts'
import { AgentLines } from '../../parts/agents/agent-lines.tsx'
import { CopyButton } from '../../parts/controls.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Table } from '../../parts/table/table.tsx'
import { PagedTable } from './contents.tsx'
import css from './deployments.module.css'

/** The answer of `tools/list`; without a result the deployment refuses it. */
interface ToolList {
  result?: { tools: { name: string; title?: string; description: string }[] }
}

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

function Tools({ name }: { name: string }) {
  const list = useDeploymentRead<ToolList>(name, '/mcp', { body: LIST })
  return (
    <Loaded from={list}>
      {({ result }) => {
        const tools = result?.tools ?? []
        if (tools.length === 0) return <Empty title="Tools: none" />
        return (
          <Table label="Tools and their assistants" columns={['Tool', 'Assistant', 'Description']}>
            {tools.map((tool) => (
              <tr key={tool.name}>
                <td>
                  <code>{tool.name}</code>
                </td>
                <td>{tool.title}</td>
                <td className={css['wide']}>{tool.description}</td>
              </tr>
            ))}
          </Table>
        )
      }}
    </Loaded>
  )
}

function Cards({ name, url }: { name: string; url: string }) {
  const assistants = useDeploymentList<Assistant>(name, '/assistants/search')
  return (
    <PagedTable label="Agents and their cards" from={assistants} columns={['Agent', 'Card']}>
      {(assistant) => {
        const card = `${url}/a2a/${assistant.assistant_id}`
        return (
          <tr key={assistant.assistant_id}>
            <td>{assistant.name}</td>
            <td>
              <code>{card}</code> <CopyButton text={card} label={`Copy the card of ${assistant.name}`} />
            </td>
          </tr>
        )
      }}
    </PagedTable>
  )
}

/** How other agents reach the assistants of a deployment: as tools of MCP, and as agents of A2A. */
export function Agents({ deployment: { name, source_config } }: { deployment: Deployment }) {
  const { data: session } = useSession()
  const url = `${location.origin}/deployments/${encodeURIComponent(name)}/mcp`
  return (
    <>
      <section className={css['section']} aria-label="Tools">
        <h2>Tools</h2>
        <p>
          Clients of MCP call each assistant as a tool at <code>{url}</code>
        </p>
        <AgentLines name={name} url={url} isOpen={session?.auth === 'off'} />
        <Tools name={name} />
      </section>
      <section className={css['section']} aria-label="Agents">
        <h2>Agents</h2>
        <p>Clients of A2A find each assistant by the address of its card. They need a key.</p>
        <Cards name={name} url={source_config.custom_url} />
      </section>
    </>
  )
}
